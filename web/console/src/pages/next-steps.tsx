import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, take } from '../api.ts';
import { ANY_CONNECTION } from '../navigation.ts';
import { may } from '../session.ts';
import { Card } from '../ui/parts.tsx';

/** The first steps in a new environment. Nothing is shown when all of them are done. */
export function NextSteps() {
  const { data } = useQuery({ queryKey: ['connections', 'accounts', 'executions', 'steps'], queryFn: loadSteps });
  const first = data?.findIndex(({ isDone }) => !isDone) ?? -1;
  if (!data || first < 0) return null;
  return (
    <Card title="Next steps">
      <ol className="steps">
        {data.map(({ title, text, to, search, label, scope, isDone }, index) => (
          <li key={title} className={isDone ? 'done' : index === first ? 'now' : ''}>
            <div>
              <strong>{title}</strong> {isDone && <span className="muted">done</span>}
              <p>{text}</p>
            </div>
            {!isDone && may(scope) && (
              <Link to={to} search={search ?? {}} className={index === first ? 'button primary' : 'button plain'}>
                {label}
              </Link>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}

async function loadSteps() {
  const one = { params: { query: { page_size: 1 } } };
  const [connections, accounts, executions] = await Promise.all([
    take(api.GET('/api/v1/connections', one)),
    take(api.GET('/api/v1/connected_accounts', { params: { query: { page_size: 1, status: 'ACTIVE' } } })),
    take(api.GET('/api/v1/executions', one)),
  ]);
  const [account] = accounts.connected_accounts;
  return [
    {
      title: 'Set up a connection',
      text: 'Choose an application, such as GitHub, and say how its users connect.',
      to: '/connections/new',
      label: 'Set up',
      scope: 'connections:write',
      isDone: connections.total_size > 0,
    },
    {
      title: 'Connect an account',
      text: 'Open a link as a user would: give consent, or enter a key.',
      to: '/accounts',
      search: { connect: ANY_CONNECTION },
      label: 'Connect',
      scope: 'accounts:write',
      isDone: accounts.total_size > 0,
    },
    {
      title: 'Call a tool',
      text: 'Run a tool with the account, and copy the same call for your agent.',
      to: '/tools',
      search: { read_only: 'true', ...(account && { connector: account.provider, account: account.id }) },
      label: 'Try a tool',
      scope: 'tools:execute',
      isDone: executions.total_size > 0,
    },
  ];
}
