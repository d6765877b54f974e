"""What all tests share."""

import signal

# A shell that starts the tests in the background lets them ignore Ctrl-C, and so would all
# programs that they start: tests of Ctrl-C would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
