import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { logIn } from '../session.ts';
import { Button, Copy } from '../ui/parts.tsx';

/** The token of the address. It is taken out of the address, so that it is in no history and no screenshot. */
function takeToken(): string {
  const token = location.hash.slice(1);
  if (token) history.replaceState(history.state, '', location.pathname + location.search);
  return token;
}

/** The token that the console was opened with. It is used once. */
let opened = takeToken();

/**
 * Exchanges a one-time address for a session. It asks first, so that a page or a message that opens someone else's address does not log
 * the operator in as that person.
 */
export function LoginPage() {
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as { next?: string };
  const [token, setToken] = useState(opened);
  const [error, setError] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  useEffect(() => {
    document.title = 'Log in · Valetkey';
    opened = '';
    const onHash = () => setToken((known) => takeToken() || known);
    window.addEventListener('hashchange', onHash);
    return () => window.removeEventListener('hashchange', onHash);
  }, []);

  async function submit() {
    setIsBusy(true);
    const problem = await logIn(token);
    setIsBusy(false);
    if (problem === undefined) await navigate({ to: placeAfter(search.next), replace: true });
    else {
      setError(problem);
      setToken('');
    }
  }

  return (
    <main className="login">
      <h1>Valetkey console</h1>
      {error && (
        <p className="trouble" role="alert">
          {error}
        </p>
      )}
      {token ? (
        <>
          <p>You have opened a one-time address. Continue if you have requested it yourself.</p>
          <Button kind="primary" autoFocus disabled={isBusy} onClick={() => void submit()}>
            Log in
          </Button>
        </>
      ) : (
        <>
          <p>Log in with a one-time address. On the machine of the server, print one:</p>
          <Copy text="node_modules/.bin/node cli/valetkey.js console" label="the command" block />
          <p className="muted">
            An operator with the role owner can also create one for you: Settings, Operators. Each address works once,
            for 15 minutes.
          </p>
        </>
      )}
    </main>
  );
}

/** The page that was asked for before the login. Only a path within the console. */
function placeAfter(next: string | undefined): string {
  return next && /^\/(?!\/|login)[\w\-/?=&%.$:]*$/.test(next) ? next : '/';
}
