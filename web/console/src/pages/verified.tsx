import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { api, take } from '../api.ts';
import { takeLink } from '../opened-links.ts';
import { useFilters } from '../ui/filters.tsx';
import { Loading, Page, Trouble } from '../ui/parts.tsx';

/** The page to which the browser returns after a link that an operator has opened in the console. */
export function VerifiedPage() {
  const { auth_request_id: request = '', state = '', error, error_description: description } = useFilters();
  const navigate = useNavigate();
  const isStarted = useRef(false);
  const verify = useMutation({
    async mutationFn() {
      const link = takeLink(state);
      if (error) throw new Error(description ?? error);
      if (!link) throw new Error('This browser did not open the link, or has completed it already.');
      const body = { auth_request_id: request, identifier: link.identifier };
      await take(api.POST('/api/v1/connected_accounts/user/verify', { body }));
      if (link.id) return link.id;
      const query = { identifier: link.identifier, ...(link.user_id !== undefined && { user_id: link.user_id }) };
      const { connected_accounts: found } = await take(api.GET('/api/v1/connected_accounts', { params: { query } }));
      return found[0]?.id;
    },
    onSuccess: (id) => void navigate({ to: id ? `/accounts/${id}` : '/accounts', replace: true }),
  });
  useEffect(() => {
    if (isStarted.current) return;
    isStarted.current = true;
    verify.mutate();
  }, [verify]);
  return (
    <Page title={verify.error ? 'The account was not connected' : 'Connecting the account'}>
      {verify.error ? <Trouble error={verify.error} /> : <Loading />}
      <p>
        <Link to="/accounts">Accounts</Link>
      </p>
    </Page>
  );
}
