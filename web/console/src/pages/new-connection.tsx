import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useState } from 'react';
import { api, take } from '../api.ts';
import { may } from '../session.ts';
import { useFilters } from '../ui/filters.tsx';
import { typeName } from '../ui/format.ts';
import { Button, Card, Empty, Field, Loading, Page, Trouble } from '../ui/parts.tsx';
import { RoleNote } from '../ui/role-note.tsx';
import { providerQuery } from './provider-query.ts';

/** The first two steps of a connection: the application, and how its users connect. */
export function NewConnectionPage() {
  const { provider } = useFilters();
  return (
    <Page
      title="Set up a connection"
      back={{ to: '/connections', label: 'All connections' }}
      lead={provider ? 'Step 2 of 3: choose how users connect.' : 'Step 1 of 3: choose an application.'}
    >
      <RoleNote scope="connections:write" action="set up connections" />
      {provider ? <ChooseType identifier={provider} /> : <ChooseProvider />}
    </Page>
  );
}

function ChooseProvider() {
  const [text, setText] = useState('');
  const query = useDeferredValue(text.trim());
  const { data, error } = useQuery({
    queryKey: ['providers', query],
    queryFn: () =>
      take(api.GET('/api/v1/providers', { params: { query: { page_size: 100, ...(query && { query }) } } })),
    placeholderData: (previous) => previous,
  });
  return (
    <>
      <Field label="Search">
        {(id) => (
          <input
            id={id}
            type="search"
            value={text}
            placeholder="GitHub"
            onChange={({ target }) => setText(target.value)}
          />
        )}
      </Field>
      <Trouble error={error} />
      {!data && !error && <Loading />}
      {data?.providers.length === 0 && (
        <Empty title="No application matches">
          You can <Link to="/import">import the description of its API</Link>.
        </Empty>
      )}
      <ul className="tiles">
        {data?.providers.map((provider) => (
          <li key={provider.identifier}>
            <Link to="/connections/new" search={{ provider: provider.identifier }}>
              <Mark provider={provider} />
              <span>
                {provider.display_name}
                <br />
                <small>{[...new Set(provider.auth_patterns.map(({ type }) => typeName(type)))].join(', ')}</small>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

/**
 * The mark of a provider: its image if this server has it, otherwise the first letter of its name. Images of other
 * hosts are not loaded.
 */
function Mark({
  provider: { icon_src: source, display_name: name },
}: {
  provider: { icon_src: string; display_name: string };
}) {
  const url = source ? URL.parse(source, location.href) : null;
  if (url && url.origin === location.origin) return <img src={url.href} alt="" loading="lazy" />;
  return (
    <span className="mono" aria-hidden="true">
      {name.charAt(0)}
    </span>
  );
}

function ChooseType({ identifier }: { identifier: string }) {
  const navigate = useNavigate();
  const { data, error } = useQuery(providerQuery(identifier));
  const present = useQuery({
    queryKey: ['connections', 'of', identifier],
    queryFn: () =>
      take(api.GET('/api/v1/connections', { params: { query: { connector: identifier, page_size: 100 } } })),
  });
  const taken = new Set(present.data?.connections.map(({ key_id: name }) => name));
  const free = [identifier, ...Array.from({ length: 100 }, (_, index) => `${identifier}-${index + 2}`)];
  const suggested = free.find((name) => !taken.has(name)) ?? '';
  const [typed, setName] = useState<string>();
  const name = typed ?? suggested;
  const create = useMutation({
    mutationFn: (type: string) =>
      take(api.POST('/api/v1/connections', { body: { connector: identifier, key_id: name, type: type as never } })),
    onSuccess: ({ connection }) => void navigate({ to: '/connections/$id', params: { id: connection.id } }),
  });
  if (error) return <Trouble error={error} />;
  if (!data || !present.isFetched) return <Loading />;
  const { provider } = data;
  return (
    <>
      <h2>{provider.display_name}</h2>
      <Trouble error={create.error} />
      {taken.size > 0 && (
        <Field
          label="Name"
          hint={`There ${taken.size === 1 ? 'is already a connection' : `are already ${taken.size} connections`} to ${provider.display_name}. API requests name the one that they mean.`}
        >
          {(id) => (
            <input
              id={id}
              name="key_id"
              value={name}
              required
              maxLength={100}
              pattern="[A-Za-z0-9 _:\-]+"
              onChange={({ target }) => setName(target.value)}
            />
          )}
        </Field>
      )}
      {provider.auth_patterns.map(({ type, display_name: label, description }) => (
        <Card
          key={type}
          title={label ?? typeName(type)}
          actions={
            <Button
              kind="primary"
              disabled={create.isPending || name.trim() === '' || !may('connections:write')}
              aria-label={`Choose ${label ?? typeName(type)}`}
              onClick={() => create.mutate(type)}
            >
              Choose
            </Button>
          }
        >
          <p>{description ?? WAYS[type] ?? ''}</p>
          {type === 'OAUTH' && (
            <p className="hint">Needs a client id and secret: you register an application there, in the next step.</p>
          )}
        </Card>
      ))}
      <p>
        <Link to="/connections/new" search={{}}>
          Another application
        </Link>
      </p>
    </>
  );
}

const WAYS: Record<string, string> = {
  OAUTH: 'Users give consent at the application. You register a client there.',
  API_KEY: 'Users enter a key on a page of this server.',
  BEARER_TOKEN: 'Users enter a token on a page of this server.',
};
