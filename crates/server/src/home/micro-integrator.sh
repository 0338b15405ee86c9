#!/bin/sh
# Starts and stops Myelin as WSO2's extension for VS Code starts and stops a Micro Integrator.
# `myelin home` writes this file; docs/vscode.md of Myelin describes it.

usage() {
    cat <<'END'
micro-integrator.sh [run|start|stop|restart|status|version] [ARGUMENT...]

  run (default)        serves conf/deployment.toml and repository/deployment/server in the foreground
  start                the same in the background
  stop                 stops it, and waits until requests in progress have ended
  restart              stop, then start
  status               says whether it runs: exit code 0 if it does, 3 if not
  version              says whose version it takes the place of

  -DsynapseTest        serves unit tests instead, on port 9008
  -DsynapseTestPort=N  the port of -DsynapseTest
  -DportOffset=N       takes the place of [server] offset of conf/deployment.toml
  -Desb.debug=true     takes connections of the debugger, and tells it that breakpoints have no effect

Other arguments for a Java virtual machine (-D…, -X…) have no effect, and are named as such.
END
}

# The extension takes a word on standard error for a failure, and kills the server when `stop` writes one there.
exec 2>&1

say() {
    echo "micro-integrator.sh: $1"
}

# The folder that holds this file's folder, through symbolic links.
script=$0
while [ -h "$script" ]; do
    link=$(readlink "$script")
    case $link in
        /*) script=$link ;;
        *) script=$(dirname "$script")/$link ;;
    esac
done
home=$(cd "$(dirname "$script")/.." && pwd -P) || exit 1
script=$home/bin/micro-integrator.sh
pid_file=$home/wso2carbon.pid
log_folder=$home/repository/logs

# The number of the server's process, if it runs.
pid_of_server() {
    [ -f "$pid_file" ] || return 1
    read -r pid <"$pid_file" || [ -n "$pid" ] || return 1
    case $pid in
        '' | *[!0-9]*) return 1 ;;
    esac
    kill -0 "$pid" 2>/dev/null || return 1
    # A number is given to another process once its own has ended, and until then it may belong to one that has ended and
    # whose parent has not asked for its exit code.
    if [ -r "/proc/$pid/stat" ]; then
        read -r state <"/proc/$pid/stat"
    else
        state=$(ps -p "$pid" -o comm= -o stat= 2>/dev/null)
    fi
    case $state in
        *') Z '* | *' Z'*) return 1 ;;
        *myelin* | '') echo "$pid" ;;
        *) return 1 ;;
    esac
}

command=run
offset=
tests=
test_port=9008
debugger=
count=$#
while [ "$count" -gt 0 ]; do
    argument=$1
    shift
    count=$((count - 1))
    case $argument in
        run | -run | --run) command=run ;;
        start | -start | --start) command=start ;;
        stop | -stop | --stop) command=stop ;;
        restart | -restart | --restart) command=restart ;;
        status | -status | --status) command=status ;;
        version | -version | --version) command=version ;;
        help | -h | -help | --help)
            usage
            exit 0
            ;;
        debug | -debug | --debug)
            # Its port is the next word.
            [ "$count" -gt 0 ] && shift && count=$((count - 1))
            say "$argument has no effect: there is no Java virtual machine to debug"
            ;;
        car | -car | --car)
            [ "$count" -gt 0 ] && shift && count=$((count - 1))
            say "$argument has no effect: every archive in repository/deployment/server/carbonapps is served"
            ;;
        -DportOffset=*) offset=${argument#*=} ;;
        -DsynapseTestPort=*) test_port=${argument#*=} ;;
        -DsynapseTest | -DsynapseTest=true) tests=yes ;;
        -DsynapseTest=*) tests= ;;
        -Desb.debug | -Desb.debug=true) debugger=yes ;;
        -Desb.debug=*) debugger= ;;
        -D* | -X* | -javaagent:* | -agentlib:* | -ea | -server)
            say "$argument has no effect: there is no Java virtual machine"
            continue
            ;;
        *)
            say "the argument \"$argument\" is unknown; --help lists those that are known"
            exit 2
            ;;
    esac
    case $argument in
        # What the server in the background is started with.
        -D*) set -- "$@" "$argument" ;;
    esac
done

pause() {
    # Seconds with a fraction are not POSIX's; whole ones are as good.
    if sleep 0.1 2>/dev/null; then
        waited=$((waited + 1))
    else
        sleep 1
        waited=$((waited + 10))
    fi
}

# The program: MYELIN, or the one in this folder, or what the system finds.
find_program() {
    myelin=${MYELIN:-$home/bin/myelin}
    if [ ! -x "$myelin" ] && [ -z "$MYELIN" ]; then
        myelin=$(command -v myelin)
    fi
    if [ ! -x "$myelin" ]; then
        say "$home/bin/myelin is not there any more, and no myelin is on the PATH: run \`myelin home $home\` again"
        exit 1
    fi
}

# Starts the server in the background, and waits until its process is the one that the other commands find.
started() {
    # Away from the terminal, so that the server outlives it.
    nohup "$script" run "$@" >/dev/null 2>&1 </dev/null &
    server=$!
    waited=0
    while [ "$(pid_of_server)" != "$server" ]; do
        if [ "$waited" -ge 100 ] || ! kill -0 "$server" 2>/dev/null; then
            say "the server did not start; \`$script run\` says why"
            exit 1
        fi
        pause
    done
    say "started as process $server; its log is $log_folder/wso2carbon.log"
}

# Stops the server; it gives requests in progress 30 seconds by default.
stopped() {
    server=$(pid_of_server) || {
        rm -f "$pid_file"
        say "no server runs"
        return 0
    }
    kill -TERM "$server" || return 1
    waited=0
    while [ "$(pid_of_server)" = "$server" ]; do
        if [ "$waited" -ge 400 ]; then
            say "process $server still has requests in progress after 40 seconds"
            return 1
        fi
        pause
    done
    rm -f "$pid_file"
    say "process $server has stopped"
}

case $command in
    start)
        if server=$(pid_of_server); then
            say "the server runs already, as process $server"
            exit 0
        fi
        find_program
        started "$@"
        exit 0
        ;;
    stop)
        stopped
        exit
        ;;
    restart)
        find_program
        stopped || exit 1
        started "$@"
        exit 0
        ;;
    status)
        if server=$(pid_of_server); then
            say "the server runs as process $server"
            exit 0
        fi
        say "no server runs"
        exit 3
        ;;
    version)
        cat "$home/bin/version.txt"
        exit
        ;;
esac

find_program
if [ -n "$tests" ]; then
    case $test_port in
        '' | *[!0-9]*)
            say "-DsynapseTestPort=$test_port: \"$test_port\" is no port"
            exit 2
            ;;
    esac
    exec "$myelin" test --listen "127.0.0.1:$test_port"
fi

if server=$(pid_of_server); then
    say "the server runs already, as process $server; \`$script stop\` stops it"
    exit 1
fi

cd "$home" || exit 1
mkdir -p "$log_folder" "$home/tmp"
# One log of the run before is kept.
if [ -f "$log_folder/wso2carbon.log" ]; then
    mv -f "$log_folder/wso2carbon.log" "$log_folder/wso2carbon-previous.log"
fi
# The log goes to the terminal and to its file. The server takes the place of this shell, so that its process is the one
# that was started: whoever kills that one kills the server, and whoever waits for it gets its exit code.
pipe=$home/tmp/log.$$
if rm -f "$pipe" && mkfifo "$pipe"; then
    (
        # It ends with the server, not before.
        trap '' INT TERM HUP
        exec tee -a "$log_folder/wso2carbon.log"
    ) <"$pipe" &
    exec >"$pipe" 2>&1
    rm -f "$pipe"
else
    say "the log is not written to $log_folder/wso2carbon.log: this file system has no named pipes"
fi

echo $$ >"$pid_file"
set -- run "$home" --config "$home/conf/deployment.toml"
[ -n "$offset" ] && set -- "$@" --port-offset "$offset"
[ -n "$debugger" ] && set -- "$@" --debugger
exec "$myelin" "$@"
