// Removes the provider's parameters from the fragment of the address, so that they do not stay in the browser history,
// and posts them.
const answer = new URLSearchParams(location.hash.slice(1));
const form = document.querySelector('form');
if (answer.get('token') || answer.get('error')) {
  history.replaceState(null, '', location.pathname + location.search);
  form.elements.field_token.value = answer.get('token') ?? '';
  form.elements.error.value = answer.get('error') ?? '';
  form.submit();
}
