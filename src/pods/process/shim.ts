/**
 * The parent of a container's process: outlives the agent, passes TERM on, and leaves in the folder $1 who it is
 * (`process`: its /proc stat line and the boot id) and how the container ended (`exit`: the code). Builtins only, as PATH
 * is the container's. The trap is set before the child is forked, so that no TERM is lost; the child gets TERM's default
 * back. At the end the whole process group goes, as what a container leaves behind goes with it.
 */
const shimScript = `
run=$1
shift
read -r stat </proc/$$/stat && read -r boot </proc/sys/kernel/random/boot_id || exit 125
printf '%s\\n%s\\n' "$stat" "$boot" >"$run/process" || exit 125
child= code= signalled=
trap 'signalled=1; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null' TERM
"$@" &
child=$!
[ -z "$signalled" ] || kill -TERM "$child"
while :; do
  signalled=
  wait "$child"
  now=$?
  # 127 after an interrupted wait: its end had been told before.
  [ "$now" -eq 127 ] && [ -n "$code" ] || code=$now
  [ -n "$signalled" ] || break
done
printf '%s\\n' "$code" >"$run/exit"
kill -KILL 0
`

/** How to start the shim: `run` is its folder, `command` the container's command line. */
export function shimOrder(run: string, command: readonly string[]): { command: string; args: string[] } {
  return { command: '/bin/sh', args: ['-c', shimScript, 'rollcall-container', run, ...command] }
}
