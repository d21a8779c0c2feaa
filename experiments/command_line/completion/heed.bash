# Completion of heed for bash. In one line of ~/.bashrc:  source <(heed completion bash)
# `heed complete` knows the words. This script only asks it and hands its answer to the shell.

# Reads the line up to the cursor as the shell does, since bash cuts words at '=', and heed does not: `words` without
# their quotes; the open `quote`, if there is one; and `before`, what of the last word bash does not replace.
_heed_read() {
  local line=${COMP_LINE:0:COMP_POINT} word="" begun="" at each
  words=() quote="" before=""
  for ((at = 0; at < ${#line}; ++at)); do
    each=${line:at:1}
    if [[ -z $quote && $each == [[:space:]] ]]; then
      [[ -z $begun ]] || words+=("$word")
      word="" begun="" before=""
      continue
    fi
    begun=1
    if [[ $each == "$quote" ]]; then
      quote="" before=$word
    elif [[ $quote == "'" ]] || [[ $quote == '"' && ($each != "\\" || ${line:at+1:1} != [\"\\\$\`]) ]]; then
      word+=$each
    elif [[ $each == "\\" ]]; then
      word+=${line:++at:1}
    elif [[ $each == ["'\""] ]]; then
      quote=$each before=$word
    else
      word+=$each
      [[ $each != [=:] || $COMP_WORDBREAKS != *$each* ]] || before=$word
    fi
  done
  words+=("$word")
}

_heed() {
  COMPREPLY=()
  local program=${1/#\~\//$HOME/} quote before
  program=$(type -P -- "$program") || return 0
  local -a words answer
  _heed_read
  mapfile -t answer < <("$program" complete -- "${words[@]:1}" 2>/dev/null </dev/null)
  local word=${words[-1]} paths=${answer[0]:-none} path="" each
  [[ $paths != *" "* ]] || path=${paths#* } # what stands before a path
  paths=${paths%% *}
  for each in "${answer[@]:1}"; do
    COMPREPLY+=("${each#"$before"}")
    [[ $each != *[=.] ]] || compopt -o nospace 2>/dev/null
  done
  local kind=f default=default
  case $paths in
    files) ;;
    folders) kind=d default=dirnames ;;
    *) return 0 ;;
  esac
  # bash offers paths by itself if there are no words, and if it replaces the whole path. It quotes all words then, as
  # it does paths.
  if ((${#COMPREPLY[@]} == 0)) && [[ $path == "$before" ]]; then
    compopt -o "$default" 2>/dev/null
    return 0
  fi
  compopt -o filenames 2>/dev/null
  while IFS= read -r each; do
    [[ ! -d $each || $path == "$before" ]] || each+=/
    each=$path$each
    COMPREPLY+=("${each#"$before"}")
  done < <(compgen -"$kind" -- "${word#"$path"}")
  [[ ${COMPREPLY[*]-} != */ ]] || compopt -o nospace 2>/dev/null
}
complete -F _heed heed
