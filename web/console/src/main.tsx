import './style.css';
import { MutationCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { ApiProblem } from './api.ts';
import { keepCurrent } from './live.ts';
import { refresh } from './refresh.ts';
import { createAppRouter } from './router.tsx';
import { onEnd } from './session.ts';

const MAX_RETRIES = 2;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      // A request that the API has rejected would be rejected again, so it is not repeated.
      retry: (count, error) => count < MAX_RETRIES && !(error instanceof ApiProblem && error.status < 500),
    },
  },
  mutationCache: new MutationCache({
    onSuccess: () => void refresh(queries, undefined, { lists: true }).catch(() => {}),
  }),
});
const router = createAppRouter();

onEnd(() => {
  queries.clear();
  void router.navigate({ to: '/login' });
});
keepCurrent(queries);
// A page that the browser restores from its back/forward cache may belong to a session that has ended.
window.addEventListener('pageshow', ({ persisted }) => persisted && location.reload());

createRoot(document.getElementById('root') as HTMLElement).render(
  <QueryClientProvider client={queries}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
);
