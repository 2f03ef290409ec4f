#ifndef bdpbench_folder_parameters_h
#define bdpbench_folder_parameters_h

/** The parameters of a folder: variables of its object, which the folder's YAML file declares. */
class FolderParameters {
public:
	virtual ~FolderParameters() {}
	/** A parameter that nobody has set ends ns-2 with a message. */
	virtual double operator[](const char* name) const = 0;
};

#endif
