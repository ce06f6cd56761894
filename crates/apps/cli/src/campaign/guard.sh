# Runs a command on a machine of a campaign, for so many seconds at most, and ends it when standard
# input ends: then the driver is gone, or wants it to end. A client's token is the first line of
# standard input, and is kept in a file that only this user may read.
set -u
umask 077
mode=$1
limit=$2
shift 2
folder=$(mktemp -d) || exit 125
case $mode in
client)
    IFS= read -r secret
    printf %s "$secret" >"$folder/token"
    set -- "$@" --token-file "$folder/token"
    ;;
record)
    mkdir "$folder/record"
    set -- "$@" --record "$folder/record"
    ;;
esac
exec 3<&0
timeout -k 2 "$limit" "$@" </dev/null 3<&- &
command=$!
# If this shell is killed, the watcher still ends the command and removes the folder. `timeout` is the
# leader of its process group; a signal in the moment when it starts the command reaches it alone, so
# what is left of the group is killed. (POSIX has `--` after `-s` alone: dash refuses it after `-KILL`.)
(
    while read -r _; do :; done
    kill "$command"
    sleep 3
    kill -s KILL -- "-$command"
    rm -rf "$folder"
) <&3 >/dev/null 2>&1 &
watcher=$!
exec 3<&-
wait "$command"
code=$?
kill "$watcher" 2>/dev/null
kill -s KILL -- "-$command" 2>/dev/null
# The driver may be gone, and the folder is removed nevertheless.
trap '' PIPE
if [ "$mode" = record ]; then
    echo mimosa-campaign-recording 2>/dev/null
    cat "$folder"/record/*.parquet 2>/dev/null
fi
rm -rf "$folder"
exit "$code"
