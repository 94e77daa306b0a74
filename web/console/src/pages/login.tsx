import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { companyLoginHost, logIn, logInAtCompany } from '../session.ts';
import { Button, Copy } from '../ui/parts.tsx';

/** Returns the token in the address, and removes it there, so that it appears in no history and no screenshot. */
function takeToken(): string {
  const token = location.hash.slice(1);
  if (token) history.replaceState(history.state, '', location.pathname + location.search);
  return token;
}

/** The token that the console was opened with. It is used once. */
let opened = takeToken();

/**
 * The session storage key that records that this tab has started a login at the company's OpenID provider. The page
 * then uses the token of that login without asking for confirmation.
 */
const BEGUN = 'valetkey-company-login';
const BEGUN_MS = 10 * 60 * 1000;

/**
 * Returns the page to open after a login that this tab has begun; undefined if this tab has not begun a login in the
 * last ten minutes.
 */
function takeBegun(): string | undefined {
  const [at = '', next = ''] = (sessionStorage.getItem(BEGUN) ?? '').split(' ');
  sessionStorage.removeItem(BEGUN);
  return at !== '' && Date.now() - Number(at) < BEGUN_MS ? next : undefined;
}

/** Why a login at the company failed. */
const FAILURES: Record<string, string> = {
  over: 'The login has expired, or began in another browser. Log in again.',
  denied: 'The login was cancelled or denied.',
  no_role: 'Your account has no role in this console. Ask an owner which group gives one.',
  failed: 'The login provider could not be used. Try again, or use a one-time address.',
  busy: 'Too many operators are logged in. Ask an owner to end sessions.',
};

/**
 * Exchanges the token of a one-time address for a session. The page asks for confirmation first, unless the token comes
 * from a company login that this tab has started. Without the confirmation, a website or a message could log the
 * operator in as another operator, by opening a one-time address of that operator.
 */
export function LoginPage() {
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as { next?: string; failed?: string };
  const [token, setToken] = useState(opened);
  const [error, setError] = useState(FAILURES[search.failed ?? ''] ?? '');
  const [isBusy, setIsBusy] = useState(false);
  const [host, setHost] = useState<string | null>(null);
  const isStarted = useRef(false);

  async function submit(next = search.next) {
    setIsBusy(true);
    const problem = await logIn(token);
    setIsBusy(false);
    if (problem === undefined) await navigate({ to: placeAfter(next), replace: true });
    else {
      setError(problem);
      setToken('');
    }
  }

  async function goToCompany() {
    setIsBusy(true);
    sessionStorage.setItem(BEGUN, `${Date.now()} ${search.next ?? '/'}`);
    const problem = await logInAtCompany();
    if (problem === undefined) return;
    setIsBusy(false);
    setError(problem);
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs once
  useEffect(() => {
    document.title = 'Log in · Valetkey';
    opened = '';
    const onHash = () => setToken((known) => takeToken() || known);
    window.addEventListener('hashchange', onHash);
    if (!isStarted.current) {
      isStarted.current = true;
      const next = takeBegun();
      if (token && next !== undefined) void submit(next);
      if (!token) void companyLoginHost().then(setHost);
    }
    return () => window.removeEventListener('hashchange', onHash);
  }, []);

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
          {host && (
            <>
              <p>Log in with your account at {host}.</p>
              <Button kind="primary" autoFocus disabled={isBusy} onClick={() => void goToCompany()}>
                Log in with {host}
              </Button>
              <p className="muted">Or with a one-time address.</p>
            </>
          )}
          <p>{host ? 'On' : 'Log in with a one-time address. On'} the machine of the server, print one:</p>
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

/** Returns the page that was requested before the login if it is a path within the console, otherwise the home page. */
function placeAfter(next: string | undefined): string {
  return next && /^\/(?!\/|login)[\w\-/?=&%.$:]*$/.test(next) ? next : '/';
}
