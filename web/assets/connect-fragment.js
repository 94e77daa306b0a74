// Takes what the provider has put behind the # out of the address, so that it does not stay in the history, and sends it.
const answer = new URLSearchParams(location.hash.slice(1));
const form = document.querySelector('form');
if (answer.get('token') || answer.get('error')) {
  history.replaceState(null, '', location.pathname + location.search);
  form.elements.field_token.value = answer.get('token') ?? '';
  form.elements.error.value = answer.get('error') ?? '';
  form.submit();
}
