const problem = document.querySelector('.problem');
const transcript = document.querySelector('.transcript');

// #region Open the link in a popup
async function connect(form) {
  const link = fetch(form.action, { method: 'POST', headers: { accept: 'application/json' } })
    .then((response) => response.json())
    .then((body) => body.link);
  // Called directly in the click, so that the browser allows the popup.
  const result = await valetkey.connect(link);
  if (result.outcome === 'completed' && result.auth_request_id) {
    // The server of the application verifies it with the user of its session.
    const verified = await fetch('/verify', { method: 'POST', body: result.auth_request_id });
    if (!verified.ok) return (await verified.json()).detail;
  }
  return result.outcome === 'completed' ? '' : (result.error_description ?? 'The window was closed.');
}
// #endregion

document.addEventListener('submit', async (event) => {
  const form = event.target;
  if (form.matches('form.connect')) {
    event.preventDefault();
    show('Open the link in a popup');
    const button = form.querySelector('button');
    button.disabled = true;
    const reason = await connect(form).catch(String);
    button.disabled = false;
    problem.textContent = reason;
    problem.hidden = reason === '';
    await refresh();
  } else if (form.matches('.questions form')) {
    event.preventDefault();
    show('The loop of the agent');
    await ask(form);
    await refresh();
  }
});

/** Shows each step of the agent as soon as its line has arrived. */
async function ask(form) {
  const question = document.createElement('li');
  question.className = 'question';
  question.textContent = form.textContent;
  transcript.replaceChildren(question);
  const response = await fetch(form.action, { method: 'POST', headers: { accept: 'application/json' } });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + part.value).split('\n');
    rest = lines.pop();
    for (const line of lines) transcript.insertAdjacentHTML('beforeend', JSON.parse(line).html);
  }
}

/** Reads the states of the connections again. */
async function refresh() {
  const text = await (await fetch('/')).text();
  const fresh = new DOMParser().parseFromString(text, 'text/html').querySelector('.connections');
  if (fresh) document.querySelector('.connections').replaceWith(fresh);
}

/** Opens the code of what happens now. */
function show(title) {
  for (const region of document.querySelectorAll('details')) {
    region.open = region.querySelector('summary').textContent.startsWith(title);
  }
}
