// Puts what stands behind the # of a link into the form, and takes it out of the address bar.
const field = document.getElementById('token')
const token = location.hash.slice(1)
if (field && token) {
  field.value = token
  history.replaceState(null, '', location.pathname)
}
