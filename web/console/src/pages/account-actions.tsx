import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, take } from '../api.ts';
import { may } from '../session.ts';
import { Button, Confirm, Status, Trouble } from '../ui/parts.tsx';
import { allowVerifyAddress } from './connect-account.tsx';
import { createLinkForHere } from './link.ts';
import { type Account, TryTool } from './try-tool.tsx';

const CHECKED = {
  ACTIVE: { tone: 'ACTIVE', label: 'The provider accepts the credentials' },
  EXPIRED: { tone: 'FAILED', label: 'The provider rejects the credentials' },
  UNKNOWN: { tone: 'UNKNOWN', label: 'Could not be checked' },
} as const;

const REFRESHED = {
  REFRESHED: { tone: 'ACTIVE', label: 'The account has a new token' },
  EXPIRED: { tone: 'FAILED', label: 'The provider issues no more tokens' },
  UNCHANGED: { tone: 'UNKNOWN', label: 'Not refreshed' },
} as const;

/** The actions of an operator on an account, and their outcome. */
export function AccountActions({ account }: { account: Account }) {
  const { id } = account;
  const navigate = useNavigate();
  const [confirming, setConfirming] = useState<'disconnect' | 'delete'>();
  const link = useMutation({
    async mutationFn() {
      await allowVerifyAddress();
      return createLinkForHere({ id }, account.identifier);
    },
    onSuccess: ({ link: address }) => location.assign(address),
  });
  const check = useMutation({
    mutationFn: () => take(api.POST('/api/v1/connected_accounts:check', { body: { id } })),
  });
  const refresh = useMutation({
    mutationFn: () => take(api.POST('/api/v1/connected_accounts:refresh', { body: { id } })),
  });
  const disconnect = useMutation({
    mutationFn: () => take(api.POST('/api/v1/connected_accounts:disconnect', { body: { id } })),
  });
  const remove = useMutation({
    mutationFn: () => take(api.POST('/api/v1/connected_accounts:delete', { body: { id } })),
    onSuccess: () => void navigate({ to: '/accounts' }),
  });
  if (!may('accounts:write')) return null;
  return (
    <>
      {account.status === 'ACTIVE' && <TryTool account={account} />}
      {account.status === 'ACTIVE' && (
        <Button disabled={check.isPending} onClick={() => check.mutate()}>
          {check.isPending ? 'Checking …' : 'Check'}
        </Button>
      )}
      {account.status === 'ACTIVE' && account.token_expires_at && (
        <Button disabled={refresh.isPending} onClick={() => refresh.mutate()}>
          {refresh.isPending ? 'Refreshing …' : 'Refresh the token'}
        </Button>
      )}
      <Button kind={account.status === 'ACTIVE' ? 'plain' : 'primary'} onClick={() => link.mutate()}>
        {account.status === 'PENDING_AUTH' ? 'Connect here' : 'Link again'}
      </Button>
      {account.status !== 'DISCONNECTED' && <Button onClick={() => setConfirming('disconnect')}>Disconnect …</Button>}
      <Button kind="danger" onClick={() => setConfirming('delete')}>
        Delete …
      </Button>
      <Trouble error={check.error ?? refresh.error ?? link.error ?? disconnect.error ?? remove.error} />
      <div role="status" className="outcome">
        {check.data && (
          <p className="advice">
            <Status value={CHECKED[check.data.outcome].tone} label={CHECKED[check.data.outcome].label} />{' '}
            {check.data.reason}
          </p>
        )}
        {refresh.data && (
          <p className="advice">
            <Status value={REFRESHED[refresh.data.outcome].tone} label={REFRESHED[refresh.data.outcome].label} />{' '}
            {refresh.data.reason}
          </p>
        )}
      </div>
      {confirming && (
        <Confirm
          title={confirming === 'delete' ? 'Delete this account?' : 'Disconnect this account?'}
          action={confirming === 'delete' ? 'Delete' : 'Disconnect'}
          onClose={() => setConfirming(undefined)}
          onConfirm={() => {
            (confirming === 'delete' ? remove : disconnect).mutate();
            setConfirming(undefined);
          }}
        >
          <p>
            Its tokens are revoked at the provider, and agents can no longer call tools with{' '}
            <strong>
              <bdi>{account.identifier}</bdi>
            </strong>
            .{confirming === 'delete' && ' Its record is deleted; its executions are kept.'}
          </p>
        </Confirm>
      )}
    </>
  );
}
