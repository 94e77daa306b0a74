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
        input.dispatchEvent(new Event('change'));
      } catch {
        // The user did not allow access to the clipboard, and can paste with the keyboard instead.
      }
    });
  }
}

/** How long a user may pause before an invalid value is marked, in milliseconds. */
const PAUSE_MS = 800;

// Reports an invalid value while the user types, instead of after the form is sent.
for (const input of document.querySelectorAll('[data-pattern]')) {
  const pattern = patternOf(input.dataset.pattern);
  if (!pattern) continue;
  // The page may already contain a message of the server about this field.
  const problem = document.getElementById(`${input.id}_problem`) ?? document.createElement('p');
  const described = new Set((input.getAttribute('aria-describedby') ?? '').split(' ').filter(Boolean));
  const show = () => {
    const value = input.value.trim();
    const isWrong = value !== '' && !pattern.test(value);
    if (!isWrong && !problem.isConnected) return;
    if (isWrong) {
      problem.className = 'problem';
      problem.id = `${input.id}_problem`;
      problem.setAttribute('role', 'status');
      (input.closest('.secret') ?? input).before(problem);
      problem.textContent = input.dataset.problem;
      described.add(problem.id);
      input.setAttribute('aria-invalid', 'true');
    } else {
      problem.remove();
      described.delete(`${input.id}_problem`);
      input.removeAttribute('aria-invalid');
    }
    input.setAttribute('aria-describedby', [...described].join(' '));
  };
  let pause;
  input.addEventListener('input', () => {
    clearTimeout(pause);
    if (problem.isConnected) show();
    else pause = setTimeout(show, PAUSE_MS);
  });
  input.addEventListener('change', show);
}

function patternOf(source) {
  try {
    return new RegExp(`^(?:${source})$`, 'u');
  } catch {
    // The server checks the value in any case.
    return undefined;
  }
}
