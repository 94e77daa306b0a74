// The last page of a popup sends the outcome to the page that opened it, if that is a page of the application.
const { outcome, origins, returnUrl } = document.querySelector('[data-outcome]').dataset;
const allowed = JSON.parse(origins);
/** How long the application may take to reply, in milliseconds. */
const REPLY_MS = 2000;

// Without a reply, the popup is redirected to `returnUrl`, if there is one. The application then learns the outcome
// from that address.
let hasLeft = false;
const leave = () => {
  hasLeft = true;
  if (returnUrl) location.replace(returnUrl);
};

if (opener) {
  const late = setTimeout(leave, REPLY_MS);
  addEventListener('message', ({ source, origin, data }) => {
    if (hasLeft || source !== opener || !allowed.includes(origin)) return;
    if (data?.type !== 'valetkey' || data.step !== 'tell') return;
    clearTimeout(late);
    opener.postMessage({ type: 'valetkey', step: 'outcome', result: JSON.parse(outcome) }, origin);
    close();
  });
  for (const origin of allowed) opener.postMessage({ type: 'valetkey', step: 'finished' }, origin);
} else {
  leave();
}
