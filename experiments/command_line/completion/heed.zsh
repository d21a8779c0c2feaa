#compdef heed
# Completion of heed for zsh. In one line of ~/.zshrc, after compinit:  source <(heed completion zsh)
# `heed complete` knows the words. This script only asks it and hands its answer to the shell.
_heed() {
  local program=${words[1]/#\~\//$HOME/} paths before
  local -a answer closed open
  whence -p -- $program >/dev/null || return 1
  # PREFIX is the word at the cursor, without an open quote.
  answer=("${(@f)$("$program" complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)}")
  paths=${answer[1]%% *}
  before=${answer[1]#$paths}
  before=${before# } # what stands before a path
  answer=("${(@)answer[2,-1]}")
  closed=("${(@)answer:#*[=.]}")
  open=("${(@M)answer:#*[=.]}")
  # After a word that ends in '=' or '.', more follows without a space.
  # -U: the words need not begin with what is typed, as train.clip= for clip.
  (( ! $#open )) || compadd -U -S '' -a open
  (( ! $#closed )) || compadd -U -a closed
  [[ -z $before ]] || compset -P "${(b)before}"
  case $paths in
    files) _files ;;
    folders) _files -/ ;;
  esac
}
# As a file in $fpath, this script is the function's body. Otherwise it registers the function.
if [[ $funcstack[1] == _heed ]]; then _heed "$@"; else compdef _heed heed; fi
