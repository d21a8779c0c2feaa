# Completion of heed for bash. In one line of ~/.bashrc:  source <(heed completion bash)
# `heed complete` knows the words. This script only asks it and hands its answer to the shell.
_heed() {
  COMPREPLY=()
  local program=${1/#\~\//$HOME/}
  program=$(type -P -- "$program") || return 0
  local -a words answer
  # bash cuts words at '=', and heed does not, so the words are read from the line.
  read -ra words <<<"${COMP_LINE:0:COMP_POINT}"
  [[ ${COMP_LINE:0:COMP_POINT} != *[[:space:]] ]] || words+=("")
  mapfile -t answer < <("$program" complete -- "${words[@]:1}" 2>/dev/null </dev/null)
  local word=${words[-1]} paths=${answer[0]:-none} cut="" each
  # bash only replaces what follows the last '='.
  [[ $COMP_WORDBREAKS != *=* || $word != *=* ]] || cut=${word%"${word##*=}"}
  for each in "${answer[@]:1}"; do
    COMPREPLY+=("${each#"$cut"}")
    [[ $each != *[=.] ]] || compopt -o nospace 2>/dev/null
  done
  case $paths in
    files) compopt -o default 2>/dev/null ;;
    folders) compopt -o dirnames 2>/dev/null ;;
    *) return 0 ;;
  esac
  # bash offers paths by itself only if there are no words. It quotes all words then, as it does paths.
  if ((${#COMPREPLY[@]})); then
    compopt -o filenames 2>/dev/null
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${word#"$cut"}")
  fi
}
complete -F _heed heed
