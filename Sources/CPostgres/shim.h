#pragma once
#include <libpq-fe.h>
// Swift's Glibc module leaves it out; a wait on libpq's socket is woken through one.
#include <sys/eventfd.h>
