#!/usr/bin/env bash
# The launcher's contract, on a project of one source file in a temporary folder. Prints TAP.
# Package managers are stand-ins that come first in PATH, so that nothing is ever installed.
# Usage: launcher_test.sh CHECKOUT
set -uo pipefail

checkout=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
project="$place/a project"
mkdir -p "$project/tests" "$project/benchmarks" "$place/bin" "$place/elsewhere"
cp "$checkout/heed" "$project/"
cp "$checkout/tests/count.py" "$checkout/tests/targets.py" "$checkout/tests/ccache_clang" "$project/tests/"
export TMPDIR="$place"
unset HEED_BUILD HEED_SETUP HEED_LONG
export CCACHE_DISABLE=1  # stand-ins for compilers are no compilers that it knows

cat >"$project/meson.build" <<'MESON'
project('heed', 'cpp')
heed = executable('heed', 'main.cpp')
shared_module('heed_float64', 'float64.cpp')
test('other', executable('test_other', 'main.cpp'), suite : 'other')
subdir('benchmarks')
test('exit status', heed, args : ['first'], suite : 'good')
test('stated', find_program('stated.sh'), suite : 'good')
if get_option('fuzz')
  alias_target('fuzzers', executable('fuzz_first', 'main.cpp', build_by_default : false))
else
  test('fuzz', executable('test_fuzz', 'main.cpp'), suite : 'fuzz')
  test('fuzzers', find_program('fuzzers.sh'), args : meson.project_source_root(), suite : 'fuzz')
endif
if get_option('python') != '' and import('fs').exists(get_option('python'))
  test('python', find_program('python.sh'), args : get_option('python'), suite : 'python')
  alias_target('python_package', shared_module('_heed', 'main.cpp', build_by_default : false))
endif
MESON
printf "option('fuzz', type : 'boolean', value : false)\noption('python', type : 'string', value : '')\n" \
  >"$project/meson_options.txt"
cat >"$project/benchmarks/meson.build" <<'MESON'
executable('bench_engine', '../main.cpp', build_by_default : false)
executable('bench_engine_avx2', '../main.cpp', build_by_default : false)
if import('fs').exists(meson.project_source_root() / 'google_benchmark')
  executable('bench_kernels', '../main.cpp', build_by_default : false)
endif
MESON
cat >"$project/benchmarks/bench.py" <<'PYTHON'
import pathlib, sys
programs = sorted(p.name for p in pathlib.Path(sys.argv[2], "benchmarks").iterdir() if p.is_file())
print(programs, sys.argv[3:])
sys.exit(7)
PYTHON
cat >"$project/tests/coverage.py" <<'PYTHON'
import pathlib, sys
if sys.argv[1] == "--suites":
    print("other")
else:
    print([pathlib.Path(word).name for word in sys.argv[1:]])
PYTHON
cat >"$project/tests/style.py" <<'PYTHON'
import pathlib, sys
print(pathlib.Path(sys.argv[1]).name, sys.argv[2:])
sys.exit(7)
PYTHON
cat >"$project/tests/tidy.py" <<'PYTHON'
import pathlib, sys
build = pathlib.Path(sys.argv[2])
print(pathlib.Path(sys.argv[1]).name, build.name, (build / "compile_commands.json").exists())
PYTHON
cat >"$project/main.cpp" <<'CPP'
#include <cstdio>
#include <cstring>
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) std::printf("<%s>", argv[i]);
  std::printf("\n");
  return argc > 1 && std::strcmp(argv[1], "fail") == 0 ? 2 : 0;
}
CPP
echo 'int float64() { return 64; }' >"$project/float64.cpp"
printf '#!/bin/sh\necho "All tests passed (9 assertions in 7 test cases)"\n' >"$project/stated.sh"
printf '#!/bin/sh\n[ -z "$HEED_LONG" ] || ls "$1/build-fuzz" | grep -x fuzz_first\n' >"$project/fuzzers.sh"
printf '#!/bin/sh\n[ -x "$1" ] && printf "ok 1 - a\\nok 2 - b\\n"\n' >"$project/python.sh"
chmod +x "$project/stated.sh" "$project/fuzzers.sh" "$project/python.sh"
mkdir "$project/tests/python"
echo "numpy" >"$project/tests/python/requirements.txt"

points=0
point() {  # point WHAT STATUS: prints one point of TAP; on failure with what the launcher last said
  points=$((points + 1))
  if (($2 == 0)); then
    echo "ok $points - $1"
  else
    echo "not ok $points - $1"
    sed 's/^/# /' "$place/out" "$place/err"
  fi
}
heed() { (cd "$place/elsewhere" && "$project/heed" "$@" >"$place/out" 2>"$place/err"); }
last_is() { [[ $(tail -n 1 "$place/out") == "$1" ]]; }
err_has() { grep -qF -- "$1" "$place/err"; }
fake() { cat >"$place/bin/$1"; chmod +x "$place/bin/$1"; }

# Stand-ins for the package managers: everything is installed, but for g++ where the file `installed` is missing, and
# nothing where there is a file `bare`.
export PATH="$place/bin:$PATH"
fake dpkg-query <<'SH'
#!/bin/sh
echo "dpkg-query" >>"$FAKES/asked"
[ ! -f "$FAKES/bare" ] || exit 1
[ -f "$FAKES/installed" ] && have=installed || have=not-installed
for package in "$@"; do
  case $package in
    g++) echo "$have g++" ;;
    libbenchmark-dev) [ -f "$FAKES/no_benchmark" ] || echo "installed $package" ;;
    -* | *Status*) ;;
    *) echo "installed $package" ;;
  esac
done
SH
# Clang with libFuzzer, or without where there is a file `no_fuzzer`; on other machines the true one is found before it.
fake clang++ <<'SH'
#!/bin/sh
case "$*" in *-fsanitize=fuzzer*) [ ! -f "$FAKES/no_fuzzer" ]; exit ;; esac
for word; do
  shift
  case $word in -fsanitize*) ;; *) set -- "$@" "$word" ;; esac
done
exec g++ "$@"
SH
for name in clang-format clang-tidy gcovr; do printf '#!/bin/sh\n' | fake "$name"; done
fake sudo <<'SH'
#!/bin/sh
[ "$1" = -n ] && shift
exec "$@"
SH
working_apt_get() {
fake apt-get <<'SH'
#!/bin/sh
echo "apt-get $*" >>"$FAKES/calls"
case $1 in
  update) touch "$FAKES/updated" ;;
  install) [ -f "$FAKES/updated" ] || { echo "E: Unable to locate package g++"; exit 100; }; touch "$FAKES/installed" ;;
esac
SH
}
working_apt_get
export FAKES="$place"
touch "$place/installed"
system() { printf 'ID=%s\nVERSION_ID="%s"\n' "$@" >"$place/os-release"; }
export HEED_OS_RELEASE="$place/os-release"
system debian 12

heed run "a b" --x=1
status=$?
point "a first start builds and hands over" "$status"
[[ $(<"$place/out") == "<run><a b><--x=1>" ]]
point "arguments arrive as they were given, and nothing else is on standard output" $?

heed fail
[[ $? == 2 ]]
point "the exit status is the command's" $?

# What a start would take its time for: packages looked up, a set-up, a build.
: >"$place/asked"
touch "$place/before"
heed run && [[ ! -s $place/asked && -z $(find "$project/build" -newer "$place/before" -name '*.o' -o \
  -newer "$place/before" -name build.ninja -o -newer "$place/before" -name .heed-setup) ]]
point "a start with nothing to build looks up no package, sets nothing up and compiles nothing" $?
grep -qF 'no work to do' "$project/build/heed-build.log"
point "and asks ninja alone" $?
[[ ! -s $place/err ]]
point "a start with nothing to build says nothing" $?

echo "broken" >>"$project/main.cpp"
heed complete -- run "" && [[ $(<"$place/out") == "<complete><--><run><>" && ! -s $place/err ]] &&
  heed completion bash && [[ $(<"$place/out") == "<completion><bash>" && ! -s $place/err ]]
point "completion builds nothing" $?
sed -i '$d' "$project/main.cpp"
mv "$project/build/heed" "$place/program"
heed complete -- run "" && [[ ! -s $place/out && ! -s $place/err && ! -e $project/build/heed ]]
point "before the first build, completion offers nothing and says nothing" $?
mv "$place/program" "$project/build/heed"

ln -sf "$project/heed" "$place/elsewhere/link"
(cd "$place/elsewhere" && ./link run >"$place/out" 2>"$place/err") && [[ $(<"$place/out") == "<run>" ]]
point "it may be called through a link" $?

echo 'int more() { return 0; }' >"$project/more.cpp"
sed -i "s/'main.cpp'/'main.cpp', 'more.cpp'/" "$project/meson.build"
heed run && err_has "building"
point "an added source is built" $?

[[ ! -e $project/build/test_other && ! -e $project/build/libheed_float64.so ]]
point "a command builds neither tests nor float64" $?
heed test good && last_is "8 passed, 0 failed" && [[ ! -e $project/build/test_other ]]
point "heed test SUITE runs that suite, and builds nothing else" $?
heed --build float64 && [[ -e $project/build/libheed_float64.so ]]
point "float64 is built where the program asks for it" $?
! heed --build float16 && err_has "there is no part 'float16' to build"
point "nothing else is built so" $?
sed -i 's/64;/65;/' "$project/float64.cpp"
cp "$project/build/libheed_float64.so" "$place/older"
heed run && ! cmp -s "$project/build/libheed_float64.so" "$place/older"
point "float64 is kept up to date from then on" $?
heed test && last_is "11 passed, 0 failed"
point "heed test ends with the count of test cases" $?
heed test stated && last_is "7 passed, 0 failed"
point "heed test NAME runs that test alone" $?
printf '#!/bin/sh\necho "All tests passed (9 assertions in ${HEED_LONG:-7}2 test cases)"\n' >"$project/stated.sh"
heed test stated --long && last_is "12 passed, 0 failed" && heed test stated && last_is "72 passed, 0 failed"
point "heed test --long says so to the tests" $?
printf '#!/bin/sh\nprintf "# aside\\n# | a | table |\\n#\\nok 1 - a\\n"\n' >"$project/stated.sh"
heed test stated --long && grep -qFx "| a | table |" "$place/out" && ! grep -q aside "$place/out" &&
  heed test stated && ! grep -q "a table" "$place/out"
point "heed test --long shows the tables that tests print" $?
printf '#!/bin/sh\necho "test cases: 7 | 5 passed | 2 failed"; exit 2\n' >"$project/stated.sh"
heed test
[[ $? == 1 ]] && last_is "9 passed, 2 failed"
point "failed tests are counted and give exit status 1" $?
printf '#!/bin/sh\nkill -SEGV $$\n' >"$project/stated.sh"
heed test
[[ $? == 1 ]] && last_is "4 passed, 1 failed"
point "a test program that crashes counts as a failure" $?

# A stand-in for what chooses the tests: it prints the file `chosen`, and fails where there is none.
cat >"$project/tests/changed.py" <<'PYTHON'
import os, sys
print(sys.argv[2], file=sys.stderr)
sys.stdout.write(open(os.environ["FAKES"] + "/chosen", encoding="utf-8").read())
PYTHON
printf 'HEED_WORD=a b\nexit status\nother\n' >"$place/chosen"
heed test --changed main && last_is "2 passed, 0 failed" && [[ $(head -n 1 "$place/err") == main ]]
point "heed test --changed COMMIT runs the tests that are chosen" $?
heed test --changed && [[ $(head -n 1 "$place/err") == HEAD ]] && : >"$place/chosen" &&
  heed test --changed && last_is "0 passed, 0 failed"
point "without a commit it is HEAD; where no test is chosen, none runs" $?
echo all >"$place/chosen"
heed test --changed; [[ $(tail -n 1 "$place/out") == *" passed, "* ]] && grep -q stated "$place/out"
point "all tests run where all are chosen" $?
rm "$place/chosen"
! heed test --changed && err_has "No such file"
point "where nothing can be chosen, that is an error" $?

heed test fuzz && last_is "2 passed, 0 failed" && heed test other --long && last_is "1 passed, 0 failed" &&
  [[ ! -e $project/build-fuzz ]]
point "no fuzzer is built where none is asked for" $?
heed test fuzz --long && last_is "2 passed, 0 failed" && [[ ! -e $project/build-fuzz/heed ]] &&
  grep -qx 'fuzz = true' "$project/build-fuzz/meson-private/cmd_line.txt"
point "heed test fuzz --long has Clang build the fuzzers, and them alone, in a build of their own" $?

# Python's venv makes a folder with a pip that fails as the files `no_pypi` and `no_torch` say. The launcher takes the
# system's own Python where there is one, so that this comes first in it.
module="$project/build/lib_heed.so"
environment="$project/build-python"
mkdir -p "$place/modules"
cat >"$place/modules/venv.py" <<'PYTHON'
import os, pathlib, sys
folder = pathlib.Path(sys.argv[1], "bin")
folder.mkdir(parents=True)
(folder / "python").symlink_to(sys.executable)
(folder / "pip").write_text("""#!/bin/sh
echo "$*" >>"$FAKES/pip"
case "$*" in
  *torch*) [ ! -f "$FAKES/no_torch" ] ;;
  *) [ ! -f "$FAKES/no_pypi" ] || { echo "no way to PyPI" >&2; false; } ;;
esac
""")
(folder / "pip").chmod(0o755)
PYTHON
with_venv() { PYTHONPATH="$place/modules" PYTHONDONTWRITEBYTECODE=1 heed "$@"; }
touch "$place/no_pypi"
with_venv test python
[[ $? == 1 ]] && err_has "no way to PyPI" && err_has "pip could not install" && ! err_has "torch" &&
  [[ ! -e $environment/heed-requirements ]]
point "heed test python says why pip can't install what the suite needs" $?
rm "$place/no_pypi"
touch "$place/no_torch"
with_venv test python && last_is "2 passed, 0 failed" && err_has "could not install PyTorch" &&
  [[ -e $module ]]
point "heed test python builds and runs the suite in an environment of its own; PyTorch may be missing" $?
: >"$place/pip"
with_venv test python && last_is "2 passed, 0 failed" && err_has "could not install PyTorch" && [[ ! -s $place/pip ]]
point "the environment is made once" $?
rm "$module" "$place/no_torch"
heed run && { heed test; last_is "4 passed, 1 failed"; } && ! grep -q '/ python' "$place/out" && [[ ! -e $module ]]
point "no other command builds the package or runs its suite" $?
heed test other && last_is "1 passed, 0 failed" && [[ ! -e $module ]]
point "nor do other suites" $?
rm -r "$environment"
echo "" >>"$project/meson.build"
heed run && heed test other && last_is "1 passed, 0 failed"
point "a folder that was set up for the suite builds without its environment" $?
with_venv test python other && last_is "3 passed, 0 failed" && ! err_has "PyTorch"
point "and with it as soon as it is there again" $?
echo "scipy" >>"$project/tests/python/requirements.txt"
: >"$place/pip"
with_venv test python && [[ -s $place/pip ]]
point "another list of packages makes the environment anew" $?
HEED_BUILD="build other" with_venv test python && last_is "2 passed, 0 failed" &&
  [[ -e "$project/build other/lib_heed.so" && ! -e "$project/build other-python" ]]
point "other build folders share the environment" $?
rm -rf "$project/build other"

heed test --coverage
[[ $? == 0 && -e $project/build-coverage/test_other && ! -e $project/build-coverage/heed ]] &&
  last_is "['gcovr', 'a project', 'build-coverage']" && grep -qx "1 passed, 0 failed" "$place/out" &&
  [[ -n $(find "$project/build-coverage" -name '*.gcda') ]]
point "heed test --coverage runs the C++ suites in a build of their own, then says what they went through" $?
heed test --coverage stated
[[ $? == 1 ]] && grep -qx "0 passed, 1 failed" "$place/out" &&
  last_is "['gcovr', 'a project', 'build-coverage']"
point "it takes suites and names; where a test fails, it says so in the exit status, too" $?
heed style "a b"
[[ $? == 7 && $(<"$place/out") == "clang-format ['a b']" ]]
point "heed style has the formatting checked" $?
heed tidy && last_is "clang-tidy build True"
point "heed tidy has the sources read in a build that is set up" $?

touch "$place/no_benchmark"
fake apt-get <<'SH'
#!/bin/sh
exit 100
SH
heed bench "a b"
[[ $? == 7 && $(<"$place/out") == "['bench_engine'] ['a b']" ]] && err_has libbenchmark-dev
point "heed bench builds and runs the benchmarks, without the kernels where their library can't be had" $?
heed bench --goals
[[ $? == 7 && $(<"$place/out") == "['bench_engine', 'bench_engine_avx2'] ['--goals']" ]] && ! err_has libbenchmark-dev
point "the goals' benchmarks are without these kernels, and with what else they need" $?
rm "$project/build/benchmarks/bench_engine_avx2"
rm "$place/no_benchmark"
working_apt_get
touch "$project/google_benchmark"
heed bench
[[ $? == 7 && $(<"$place/out") == "['bench_engine', 'bench_kernels'] []" ]]
point "and with them as soon as it can" $?

echo 'this does not compile' >>"$project/more.cpp"
heed run
[[ $? == 1 ]] && err_has "this does not compile" && err_has "the build failed"
point "a failed build shows the compiler's errors" $?
echo 'int more() { return 0; }' >"$project/more.cpp"
heed run
point "and the next start goes on from there" $?

# A part of the build that begins when its script is changed, and lasts as long as there is a file `slow`; it fails as
# on a full disk where there is a file `full`.
slow_part() {
  printf '#!/bin/sh\n# %s\ntouch "$FAKES/began"\nwhile [ -e "$FAKES/slow" ]; do sleep 0.05; done\n' "$1"
  printf 'if [ -e "$FAKES/full" ]; then echo "cannot write: No space left on device"; exit 1; fi\ntouch "$1"\n'
}
change_slow_part() {
  rm -f "$place/began"
  slow_part "$1" >"$project/slow.sh"
  is_newest "$project/slow.sh"
}
# is_newest FILE: makes it newer than all that was built, for up to 30 s, since a machine may set its clock back. It waits
# first: what is written within a tick of the clock has the same time as what was built last, and is not built anew.
is_newest() {
  for _ in $(seq 600); do
    sleep 0.05
    touch "$1"
    [[ -n $(find "$project/build" -newer "$1" -print -quit) ]] || return 0
  done
  return 1
}
until_it_began() { for _ in $(seq 600); do [[ ! -e $place/began ]] || return 0; sleep 0.05; done; return 1; }
slow_part first >"$project/slow.sh"
chmod +x "$project/slow.sh"
slow="custom_target('slow', output : 'slow.hpp', command : [find_program('slow.sh'), '@OUTPUT@'])"
sed -i "s/^heed = executable('heed',/heed = executable('heed', $slow,/" "$project/meson.build"
heed run

# The kinds of SIGINT that a start begins with: a shell that is not interactive starts `heed &` with it ignored.
for kind in DFL IGN; do
  change_slow_part "interrupted, $kind"
  touch "$place/slow"
  set -m  # a job of its own, which gets the signals of Ctrl-C as a whole
  python3 -c "import os, signal, sys; signal.signal(2, signal.SIG_$kind); os.execv(sys.argv[1], sys.argv[1:])" \
    "$project/heed" run >"$place/out" 2>"$place/err" &
  set +m
  until_it_began
  kill -INT -- -$!
  wait $!
  status=$?
  rm "$place/slow"
  [[ $status == 130 && $(tail -n 1 "$place/err") == "heed: stopped; the next start resumes the build" ]] &&
    ! err_has "report it"
  point "Ctrl-C during a build is said as such (SIGINT at the start: $kind)" $?
  heed run && [[ $(<"$place/out") == "<run>" ]]
  point "and the next start resumes the build" $?
done

change_slow_part awaited
touch "$place/slow"
(cd "$place" && "$project/heed" first >"$place/first" 2>&1) &
until_it_began
(for _ in $(seq 200); do ! err_has "another start" || break; sleep 0.05; done; rm "$place/slow") &
heed second && err_has "another start of Heed is building; waiting for it" && [[ $(<"$place/out") == "<second>" ]]
point "who waits for a build says so" $?
wait
(flock 7; touch "$place/held"; sleep 1) 7<"$project/heed" &
until [[ -e $place/held ]]; do sleep 0.05; done
heed run && [[ ! -s $place/err ]]
point "who waits for a start that builds nothing doesn't speak of a build" $?
wait

change_slow_part full
touch "$place/full"
heed run
[[ $? == 1 ]] && err_has "the disk is full: " && err_has "a build takes about 1.6 GB" && ! err_has "report it"
point "a full disk during a build is said as such" $?
rm "$place/full"
heed run
point "and with room, the next start resumes the build" $?

skip() { points=$((points + 1)); echo "ok $points - $1 # SKIP this user may not do what it needs"; }
if ((EUID == 0)) && command -v setpriv >/dev/null; then
  as_other() {
    (cd / && setpriv --reuid 65534 --regid 65534 --clear-groups "$project/heed" run >"$place/out" 2>"$place/err")
  }
  chmod 755 "$place"
  as_other && [[ $(<"$place/out") == "<run>" && ! -s $place/err ]]
  point "another user's checkout that is built and up to date serves" $?
  change_slow_part other
  as_other
  [[ $? == 1 ]] && err_has "is older than its sources" &&
    err_has "$project/build is root's, and you can't write there" && err_has "copy the checkout" && ! err_has "report it"
  point "one that isn't up to date says whose it is and what to do" $?
  heed run
else
  for what in "another user's checkout" "one that isn't up to date"; do skip "$what"; done
fi

# unshared COMMAND: in a shell as root of mounts of its own, where the system lets this user have such.
unshared() {
  if ((EUID == 0)); then unshare -m bash -c "$1"; else unshare -rm bash -c "$1"; fi
}
export project place
if unshared 'mount -t tmpfs -o size=64k none "$place/elsewhere"' 2>/dev/null; then
  unshared 'mkdir "$project/small" && mount -t tmpfs -o size=16k none "$project/small" && cd "$place/elsewhere" &&
    HEED_BUILD=small "$project/heed" run >"$place/out" 2>"$place/err"'
  [[ $? == 1 ]] && err_has "the disk is full: $project/small has " && err_has "a build takes about 1.6 GB" &&
    ! err_has "report it"
  point "a disk that is full before the build begins is said as such" $?
  rmdir "$project/small"
  read_only='mount --bind "$project" "$project" && mount -o remount,ro,bind "$project" && cd "$place/elsewhere" &&'
  unshared "$read_only"' "$project/heed" run >"$place/out" 2>"$place/err"' && [[ $(<"$place/out") == "<run>" ]] &&
    [[ ! -s $place/err ]]
  point "a checkout that is built and up to date serves where it is read-only" $?
  change_slow_part read_only
  unshared "$read_only"' "$project/heed" run >"$place/out" 2>"$place/err"'
  [[ $? == 1 ]] && err_has "is older than its sources" && err_has "$project/build is read-only" &&
    err_has "copy the checkout" && ! err_has "report it"
  point "one that isn't up to date says what to do" $?
  unshared "$read_only"' HEED_BUILD=none "$project/heed" run >"$place/out" 2>"$place/err"'
  [[ $? == 1 ]] && err_has "is not built in $project/none" && err_has "$project is read-only"
  point "so does one that isn't built" $?
  heed run
else
  for what in "a full disk" "a read-only checkout" "an older one" "one that isn't built"; do skip "$what"; done
fi

# in_terminal COMMAND ...: in a terminal of its own, whose text goes to `out`.
in_terminal() {
  TERM=xterm python3 -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$@" \
    </dev/null >"$place/out" 2>"$place/err"
}
status=0
for columns in abc 08 0 "" -3 99999999; do
  change_slow_part "$columns columns"
  COLUMNS=$columns in_terminal "$project/heed" run && grep -q "building 1/" "$place/out" &&
    grep -q "<run>" "$place/out" || { status=1; break; }
done
point "COLUMNS that is no number of columns is as good as none" "$status"

rm -rf "$project/build"
(cd "$place" && "$project/heed" first >"$place/first" 2>&1) &
heed second && wait $! && [[ $(<"$place/out") == "<second>" && $(tail -n 1 "$place/first") == "<first>" ]]
point "two starts at once do not disturb each other" $?

mv "$project" "$place/moved"
project="$place/moved"
heed run && [[ $(<"$place/out") == "<run>" ]]
point "a checkout that was moved is built anew" $?

rm "$place/installed"
rm -rf "$project/build"
heed run && err_has "  g++" && grep -q "^apt-get install .* g++$" "$place/calls"
point "what is missing is listed, then installed" $?
grep -q "^apt-get update" "$place/calls"
point "new package lists are fetched where the old ones do not do" $?
: >"$place/calls"
heed run && [[ ! -s $place/calls ]]
point "what is there is not installed again" $?

heed packages && [[ ! -s $place/out ]] && err_has "no Debian package is missing"
point "heed packages says that no package is missing" $?
rm "$place/installed"
rm -rf "$project/build"
: >"$place/calls"
heed packages && grep -qE '^(apt-get|sudo apt-get|.* && (sudo )?apt-get) install -y --no-install-recommends g\+\+$' "$place/out" &&
  [[ ! -s $place/calls && ! -e $project/build ]]
point "it prints the command that installs what pip needs, and does nothing else" $?
touch "$place/bare"
heed packages && grep -q " libboost1.81-dev .* python3-dev python3-venv$" "$place/out" &&
  ! grep -qE "catch2|meson" "$place/out" && heed packages tests && grep -qE " meson .* catch2 " "$place/out"
point "pip needs fewer packages than the tests" $?
rm "$place/bare"
touch "$place/installed"

# The packages of each system that is known.
asks_for() {  # asks_for BOOST: what apt-get was told to install
  grep -q "^apt-get install .* libboost$1-dev libboost-json$1-dev .*node-d3$" "$place/calls"
}
touch "$place/bare"
for name in "debian 12" "debian 13"; do
  system $name
  rm -rf "$project/build"
  : >"$place/calls"
  heed run && [[ $(<"$place/out") == "<run>" ]]
  case $name in
    *12) asks_for 1.81 ;;
    *13) asks_for 1.83 ;;
  esac
  point "$name: its packages are installed" $?
done
system ubuntu 24.04
rm -rf "$project/build"
: >"$place/calls"
heed run && [[ $(<"$place/out") == "<run>" && ! -s $place/calls ]] && err_has "not tried on Ubuntu 24.04" &&
  err_has "apt-get install --no-install-recommends g++" && err_has "libboost-json1.83-dev"
point "Ubuntu 24.04: what is missing is listed, nothing is installed, and the build is tried" $?
for other in "ubuntu 22.04" "debian" "linuxmint 21"; do
  system $other
  rm -rf "$project/build"
  : >"$place/calls"
  heed run && [[ $(<"$place/out") == "<run>" && ! -s $place/calls ]] && err_has "not tried on $other" &&
    err_has "libboost-json1.81-dev"
  point "$other: what is missing is listed, nothing is installed, and the build is tried" $?
done
rm "$place/bare"
system debian 12

echo "warning('fmt is of version 9, and Heed was tried with 7 and 8 only: run x')" >>"$project/meson.build"
rm -rf "$project/build"
heed run && err_has "heed: fmt is of version 9, and Heed was tried with 7 and 8 only: run x"
point "a library of a version that was never tried is named" $?

fake apt-get <<'SH'
#!/bin/sh
echo "E: no network"
exit 100
SH
rm -rf "$project/build" "$place/installed"
heed run
[[ $? == 1 ]] && err_has "no network" && err_has "apt-get install --no-install-recommends g++" &&
  [[ ! -e $project/build ]]
point "where apt-get fails it says why and what to install by hand" $?

echo "1..$points"
