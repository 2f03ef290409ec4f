#include "decimal.h"

const decimal::Groups decimal::groups;
