// Puts the part after the # of a link into the form, and removes it from the address bar.
function fill() {
  const field = document.getElementById('token')
  const token = location.hash.slice(1)
  if (!field || !token) return
  field.value = token
  history.replaceState(null, '', location.pathname)
}

fill()
// Another link, opened in the same tab, loads nothing anew.
addEventListener('hashchange', fill)
