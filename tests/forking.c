/* Two commands for a Tcl shell that let one ns-2 process run many scripts (forks.tcl):
 *
 *   fork OUT ERR   creates a child whose standard output and error are these files; returns 0 in
 *                  the child and its id in the parent
 *   await PID      waits for its end; returns its exit status, or minus the signal that killed it
 *
 * The functions of Tcl are declared here, so that Tcl's headers need not be installed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TCL_OK, TCL_ERROR };

typedef struct Tcl_Interp Tcl_Interp;
typedef int Command(void *, Tcl_Interp *, int, const char **);

extern void *Tcl_CreateCommand(Tcl_Interp *, const char *, Command *, void *, void (*)(void *));
extern void Tcl_AppendResult(Tcl_Interp *, ...);

static int tell(Tcl_Interp *interp, int number)
{
	char text[16];
	snprintf(text, sizeof text, "%d", number);
	Tcl_AppendResult(interp, text, (char *)0);
	return TCL_OK;
}

static int fail(Tcl_Interp *interp, const char *what)
{
	Tcl_AppendResult(interp, what, (char *)0);
	return TCL_ERROR;
}

static void redirect(const char *path, int flags, int to)
{
	int opened = open(path, flags, 0666);
	if (opened < 0 || dup2(opened, to) < 0) {
		_exit(125);
	}
	close(opened);
}

static int do_fork(void *data, Tcl_Interp *interp, int argc, const char **argv)
{
	(void)data;
	if (argc != 3) {
		return fail(interp, "usage: fork OUT ERR");
	}
	pid_t pid = fork();
	if (pid < 0) {
		return fail(interp, "cannot fork");
	}
	if (pid == 0) {
		redirect("/dev/null", O_RDONLY, 0);
		redirect(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 1);
		redirect(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 2);
	}
	return tell(interp, (int)pid);
}

static int do_await(void *data, Tcl_Interp *interp, int argc, const char **argv)
{
	int status;
	(void)data;
	if (argc != 2 || waitpid(atoi(argv[1]), &status, 0) < 0) {
		return fail(interp, "usage: await PID, of a child");
	}
	return tell(interp, WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
}

int Forking_Init(Tcl_Interp *interp)
{
	Tcl_CreateCommand(interp, "fork", do_fork, 0, 0);
	Tcl_CreateCommand(interp, "await", do_await, 0, 0);
	return TCL_OK;
}
