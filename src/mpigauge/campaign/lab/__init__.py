"""A lab: emulated hosts on one Linux machine, in namespaces that end with the command that they are for.

`start` forks; its child makes the namespaces and forks `init`, the lab's process 1, which starts the
relay, forks a `host` for each host and runs the command on h1. `context` is for programs in a lab.
"""
