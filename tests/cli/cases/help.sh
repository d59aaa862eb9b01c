# SPDX-License-Identifier: BSD-3-Clause
show help
show --help
show help compress
show compress --help
show bench -h
show check --help
show stat --help
show version
show --version
# What is generated knows every command and option of the help.
"$FLOE" help --man >man
for shell in bash zsh fish; do "$FLOE" help --completion $shell >$shell; done
bash -n bash && echo "bash takes its completion"
for command in compress decompress index info verify check stat fields bench help version; do
    for option in $("$FLOE" help $command | sed -nE 's/^ +(-[a-zA-Z], )?--([a-z]+).*/\2/p'); do
        [ $option = help ] || grep -q -- "-$option" man || echo "man lacks --$option"
        for shell in bash zsh; do grep -q -- "--$option" $shell || echo "$shell lacks --$option"; done
        grep -q -- "$command' -l $option" fish || echo "fish lacks --$option of $command"
    done
done
if command -v groff >/dev/null; then groff -man -ww -z man; fi
complete_words() { # words...: what bash would offer
    bash -c '. ./bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _floe 2>/dev/null; echo "${COMPREPLY[*]}"' - "$@"
}
complete_words floe com
complete_words floe compress --pre
complete_words floe compress --preset b
complete_words floe compress --bound p
complete_words floe check --bound p
complete_words floe check --fa
complete_words floe help ver
# metrics: all that check and stat can find, and none twice
show_sh 'floe help metrics | sed -n 1,16p'
field x.npy 16x16x16
"$FLOE" help metrics | sed -nE 's/^  ([a-z0-9_]+) \([a-z0-9_]+:[a-z0-9_]+\).*/\1/p' >names
sort names | uniq -d
"$FLOE" check x.npy x.npy --bound abs=0 --csv -q | sed 1d | cut -d, -f2 | uniq >found
while read -r name; do grep -qx "$name" names || echo "help metrics lacks $name"; done <found
