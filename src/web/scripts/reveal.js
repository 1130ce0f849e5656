// Puts the token after the # of a link into the form, and removes it from the address bar. A form that only shows
// something, and uses nothing up, is sent at once.
function fill() {
  const field = document.getElementById('token')
  const token = location.hash.slice(1)
  if (!field || !token) return
  field.value = token
  history.replaceState(null, '', location.pathname)
  if ('send' in field.form.dataset) field.form.submit()
}

fill()
// Another link of this page, opened in the same tab, does not reload the page.
addEventListener('hashchange', fill)
