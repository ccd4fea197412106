import Glibc
import Simulation

// Dictionaries must have the same order each time: that is settled before a program begins.
if getenv("SWIFT_DETERMINISTIC_HASHING") == nil {
    setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
    execv("/proc/self/exe", CommandLine.unsafeArgv)
}
Command(CommandLine.arguments).run()
