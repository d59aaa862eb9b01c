# SPDX-License-Identifier: BSD-3-Clause
show
show compres t.f32
show nonsense
show --version extra
show compress
show compress a b -o c
show compress a --bound abs=1
show compress a -o b
show compress a -o b --forse
show compress a -o b -x
show compress a -o b --zzzzzz
show compress a -o
show compress a -o b --bound
# an option is not the argument of another one; a number is
show compress a --bound abs=1 -o -f
show compress a --bound abs=1 --output --bound=abs=1
show compress a --bound abs=1 --fill -q
show compress a --bound -1
show compress a -o b -o c
show compress a -o b --quiet=yes
show compress a -o b --bound abs=1 --rel 1
show compress a -o b --bound abs=1 --threads many
show compress a -o b --bound abs=1 --backend gpu
show compress a -o b --bound abs=1 --isa sse
show compress a -o b --bound abs=1 --preset finest
show compress a -o b --bound abs=1 --preset 'fast abs=2'
show compress a -o b --bound abs=1 --fill much
show compress a -o b --bound abs=1 --attr units
show compress a -o b --bound abs=1 --attr units=K --attr units=C
show compress a -o b --bound abs=1 --chunk 8x0
show decompress a
show info
show verify - --against -
show fields turbulance --shape 4 -o a
show fields turbulence -o a
show fields turbulence --shape 4
show fields turbulence --shape 4 -o a --seed x
show help compres
show help --completion tcsh
show bench --repeats 2
show bench --threads 1,
only
