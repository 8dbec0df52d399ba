// SPDX-License-Identifier: MIT
/* `anybinder doctor` over fake_sys.c, for tests/tools/doctor. */
#include "tools/command.h"

int main(int argc, char **argv)
{
	return finish_output(command_doctor(argc, argv));
}
