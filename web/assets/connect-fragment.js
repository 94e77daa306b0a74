// Takes what the provider has put behind the # out of the address, so that it does not stay in the history, and sends it.
const answer = new URLSearchParams(location.hash.slice(1));
const form = document.querySelector('form');
history.replaceState(null, '', location.pathname + location.search);
if (answer.has('token') || answer.has('error')) {
  form.elements.field_token.value = answer.get('token') ?? '';
  form.elements.error.value = answer.get('error') ?? '';
  form.submit();
}
