import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { liveState, onLiveState } from './live.ts';
import { PAGES } from './navigation.ts';
import { currentSession, logOut } from './session.ts';

const Palette = lazy(() => import('./palette.tsx'));

const LIVE = {
  live: 'Live',
  connecting: 'Connecting',
} as const;

/** The frame of all pages: navigation, the state of the connection, the operator, and the command palette. */
export function Shell() {
  const session = currentSession();
  const live = useSyncExternalStore(onLiveState, liveState);
  const [hasPalette, setHasPalette] = useState(false);
  const [hasMenu, setHasMenu] = useState(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        setHasPalette((shown) => !shown);
      }
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when the page changes
  useEffect(() => {
    setHasMenu(false);
    // Moves the focus to the new page, so that a screen reader continues there. The first page keeps the browser's
    // focus.
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
  }, [path]);

  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="bar">
        <button
          type="button"
          className="menu-button"
          aria-expanded={hasMenu}
          aria-controls="navigation"
          onClick={() => setHasMenu(!hasMenu)}
        >
          Menu
        </button>
        <Link to="/" className="brand">
          Valetkey
        </Link>
        <span className={session?.environment.kind === 'PRODUCTION' ? 'tag production' : 'tag'}>
          {session?.environment.kind === 'PRODUCTION' ? 'Production' : 'Development'}
        </span>
        <button type="button" className="search-button" onClick={() => setHasPalette(true)}>
          <span>Go to …</span>
          <kbd>Ctrl K</kbd>
        </button>
        <span className={live === 'live' ? 'live on' : 'live'} role="status">
          {LIVE[live]}
        </span>
      </header>
      <nav id="navigation" aria-label="Pages" className={hasMenu ? 'open' : undefined}>
        <ul>
          {PAGES.map(({ to, label }) => (
            <li key={to}>
              <Link to={to} activeOptions={{ exact: to === '/' }}>
                {label}
              </Link>
            </li>
          ))}
        </ul>
        <div className="operator">
          <p>
            <span title={session?.operator}>{session?.operator}</span>
            <span className="muted">{session?.role.toLowerCase()}</span>
          </p>
          <button type="button" className="button plain" onClick={() => void logOut()}>
            Log out
          </button>
        </div>
      </nav>
      <main id="main" ref={main} tabIndex={-1}>
        <Outlet />
      </main>
      {hasPalette && (
        <Suspense>
          <Palette onClose={() => setHasPalette(false)} />
        </Suspense>
      )}
    </div>
  );
}
