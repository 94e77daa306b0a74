// Shows the buttons that reveal and paste a secret; without scripts the page works without them.
for (const button of document.querySelectorAll('[data-show]')) {
  const input = document.getElementById(button.dataset.show);
  const showText = button.textContent;
  button.hidden = false;
  button.addEventListener('click', () => {
    const isShown = input.type === 'text';
    input.type = isShown ? 'password' : 'text';
    button.setAttribute('aria-pressed', String(!isShown));
    button.textContent = isShown ? showText : button.dataset.hideText;
  });
}
if (navigator.clipboard?.readText) {
  for (const button of document.querySelectorAll('[data-paste]')) {
    const input = document.getElementById(button.dataset.paste);
    button.hidden = false;
    button.addEventListener('click', async () => {
      input.focus();
      try {
        input.value = (await navigator.clipboard.readText()).trim();
      } catch {
        // The user did not allow it, and can paste with the keyboard.
      }
    });
  }
}
