"""llama.cpp's own HTTP server, from the package xllamacpp, on a free port until standard input closes. Argument: the model file."""
import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = 2048
params.n_parallel = 1
# with more, threads wait for each other by spinning, which on a busy machine is most of the time
params.cpuparams.n_threads = 1
params.warmup = False
server = xllamacpp.Server(params)
print(f"test server at {server.listening_address}", flush=True)
sys.stdin.read()
