// Keepers of channels that scripts close at any moment, without ns-2, for a memory checker.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>

#include "check.h"
#include "kept_channel.h"
#include "trace_channel.h"

// Tcl's memory goes to the checker at once, where Tcl's own lists would keep what is freed.
extern "C" {
char* TclpAlloc(unsigned int size) { return static_cast<char*>(malloc(size)); }
char* TclpRealloc(char* memory, unsigned int size) { return static_cast<char*>(realloc(memory, size)); }
void TclpFree(char* memory) { free(memory); }
}

static std::string content(const std::string& name)
{
	std::string text;
	FILE* file = fopen(name.c_str(), "rb");
	CHECK(file != 0);
	for (int c; file != 0 && (c = fgetc(file)) != EOF;)
		text += static_cast<char>(c);
	if (file != 0)
		fclose(file);
	return text;
}

static int below(int limit)
{
	return rand() % limit;
}

// Files are opened and closed, and keepers are made, set, copied and deleted, while lines are written.
static void lines_end_with_their_channel(Tcl_Interp* interp, int rounds)
{
	const int files = 4;
	Tcl_Channel open[files] = {0};
	std::string names[files], expected[files];
	std::vector<KeptChannel*> keepers;
	std::vector<int> of;	// the file of each; -1 if it writes nothing any more
	for (int round = 0; round < rounds; round++) {
		const int file = below(files);
		if (open[file] == 0) {
			char name[32];
			snprintf(name, sizeof name, "%d.%d.tr", file, round);
			names[file] = name;
			expected[file] = "";
			open[file] = Tcl_OpenFileChannel(interp, name, "w", 0600);
			Tcl_RegisterChannel(interp, open[file]);
			if (below(2))
				Tcl_SetChannelOption(interp, open[file], "-buffersize", "10");
		} else if (below(20) == 0) {
			CHECK(Tcl_UnregisterChannel(interp, open[file]) == TCL_OK);
			CHECK(content(names[file]) == expected[file]);
			remove(names[file].c_str());
			open[file] = 0;
			for (size_t i = 0; i < of.size(); i++)
				if (of[i] == file)
					of[i] = -1;
		}
		const size_t i = below(12);
		switch (below(8)) {
		case 0:
			if (keepers.size() > i) {
				delete keepers[i];
				keepers.erase(keepers.begin() + i);
				of.erase(of.begin() + i);
			}
			break;
		case 1:
			keepers.push_back(new KeptChannel(open[file]));
			of.push_back(open[file] == 0 ? -1 : file);
			break;
		case 2:
			if (keepers.size() > i) {
				*keepers[i] = open[file];
				of[i] = open[file] == 0 ? -1 : file;
			}
			break;
		case 3:
			if (keepers.size() > i) {
				keepers.push_back(new KeptChannel(*keepers[i]));
				of.push_back(of[i]);
			}
			break;
		default:
			if (keepers.size() > i && *keepers[i] != 0) {
				char line[32];
				const int length = snprintf(line, sizeof line, "%d\n", round);
				if (round % 2)
					Tcl_Write(*keepers[i], line, length);
				else
					write_to_channel(*keepers[i], line, length);
				Tcl_Flush(*keepers[i]);
				if (of[i] >= 0)
					expected[of[i]] += line;
			}
		}
	}
	for (size_t i = 0; i < keepers.size(); i += 2)
		delete keepers[i];	// the others keep their channels to the very end
	for (int file = 0; file < files; file++)
		if (open[file] != 0)
			remove(names[file].c_str());
}

int main(int, char** arguments)
{
	Tcl_FindExecutable(arguments[0]);
	Tcl_Interp* interp = Tcl_CreateInterp();
	srand(1);
	lines_end_with_their_channel(interp, 100000);
	Tcl_DeleteInterp(interp);
	Tcl_Finalize();
	return failures != 0;
}
