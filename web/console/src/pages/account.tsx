import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { api, type Schemas, take } from '../api.ts';
import { FailedPage } from '../ui/failed-page.tsx';
import { typeName } from '../ui/format.ts';
import { List } from '../ui/list.tsx';
import { Card, Empty, Facts, Loading, Page, Status, Time } from '../ui/parts.tsx';
import { AccountActions } from './account-actions.tsx';
import { loadAudit, TIMELINE_COLUMNS } from './audit.tsx';
import { EXECUTION_COLUMNS, loadExecutions } from './executions.tsx';
import { type Account, TryTool } from './try-tool.tsx';

const BACK = { to: '/accounts', label: 'All accounts' } as const;

/** The recommended next step of an operator, for each status. */
const NEXT: Record<Schemas['AccountStatus'], string> = {
  ACTIVE: 'Agents can call tools with this account.',
  EXPIRED: 'The credentials no longer work. The user must link the account again.',
  PENDING_AUTH: 'The user has not finished connecting. Send a link, or connect here.',
  PENDING_VERIFICATION: 'The user has finished the link. Your application must verify the user within ten minutes.',
  DISCONNECTED: 'The account was disconnected. Link it again to use it.',
};

export function AccountPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { data, error, isPending } = useQuery({
    queryKey: ['account', id],
    queryFn: () => take(api.GET('/api/v1/connected_accounts/details', { params: { query: { id } } })),
  });
  if (isPending) return <Loading />;
  if (error) return <FailedPage title="Account" error={error} back={BACK} />;
  const { connected_account: account } = data;
  return (
    <Page
      back={BACK}
      title={account.identifier}
      lead={<code>{account.id}</code>}
      actions={<AccountActions account={account} />}
    >
      <Card title="State">
        <p className="advice">
          <Status value={account.status} /> {account.status_reason || NEXT[account.status]}
        </p>
        <Facts
          rows={[
            ['Provider', account.provider],
            [
              'Connection',
              <Link key="connection" to="/connections/$id" params={{ id: account.connection_id }}>
                {account.connector}
              </Link>,
            ],
            ['User', account.user_id && <bdi key="user">{account.user_id}</bdi>],
            ['Organization', account.organization_id && <bdi key="organization">{account.organization_id}</bdi>],
            ['Type', typeName(account.authorization_type)],
            ['Token expires', <Time key="expires" value={account.token_expires_at} />],
            ['Last used', <Time key="used" value={account.last_used_at} />],
            ['Created', <Time key="created" value={account.created_at} />],
            ['Changed', <Time key="changed" value={account.updated_at} />],
            ['Scopes', scopesOf(account)],
          ]}
        />
      </Card>
      <Card title="Timeline">
        <List
          label="Timeline"
          queryKey={['audit', 'account', id]}
          load={(token) => loadAudit({ subject_id: id }, token)}
          columns={TIMELINE_COLUMNS}
          wraps
          rowKey={(row) => row.id}
          empty={<p className="muted">Nothing was recorded, or it was archived.</p>}
        />
      </Card>
      <Card
        title="Calls"
        actions={
          <Link to="/executions" search={{ connected_account_id: id }}>
            All
          </Link>
        }
      >
        <List
          label="Calls of the account"
          queryKey={['executions', 'account', id]}
          load={(token) => loadExecutions({ connected_account_id: id }, token)}
          columns={EXECUTION_COLUMNS}
          rowKey={(row) => row.id}
          rowHref={(row) => `/executions/${row.id}`}
          empty={
            <Empty
              title="No tool was called with this account yet"
              action={account.status === 'ACTIVE' && <TryTool account={account} />}
            >
              {account.status === 'ACTIVE'
                ? 'Run one of its tools to see how it works.'
                : 'Its tools can be run once it is active.'}
            </Empty>
          }
        />
      </Card>
    </Page>
  );
}

function scopesOf({ authorization_details: details }: Account): string {
  const oauth = 'oauth_token' in details ? details.oauth_token : undefined;
  return (oauth?.scopes ?? []).join(', ');
}
