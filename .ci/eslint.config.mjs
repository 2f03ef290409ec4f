// Names that the scripts of the pages may use but do not define themselves.
const names = `
  window document location history addEventListener matchMedia structuredClone setTimeout console
  Blob URL Option Response DecompressionStream IntersectionObserver MutationObserver ResizeObserver
  TextDecoder Event URLSearchParams
`;
const globals = Object.fromEntries(names.trim().split(/\s+/).map((name) => [name, "readonly"]));
const rules = { "no-redeclare": 2, "no-undef": 2, "no-unused-vars": 2, "no-dupe-keys": 2, "no-unreachable": 2 };
export default [{ languageOptions: { sourceType: "script", globals }, rules }];
