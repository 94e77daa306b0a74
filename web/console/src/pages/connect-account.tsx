import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { ApiProblem, api, take } from '../api.ts';
import { ANY_CONNECTION } from '../navigation.ts';
import { may } from '../session.ts';
import { Button, Copy, Field, Trouble } from '../ui/parts.tsx';
import { createLinkForHere, createLinkToSend, verifyAddress } from './link.ts';
import { OwnerFields } from './owner-fields.tsx';
import { isStored, StoreAccount } from './store-account.tsx';

/** A form that creates a link for an account: to open it here, or to send it to the user. */
export function ConnectAccount({ connector: given, onClose }: { connector: string; onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [chosen, setChosen] = useState(given);
  const connections = useQuery({
    queryKey: ['connections', 'names'],
    queryFn: () => take(api.GET('/api/v1/connections', { params: { query: { page_size: 100 } } })),
  });
  const all = connections.data?.connections ?? [];
  const usable = all.filter(({ enabled, status }) => enabled && status === 'COMPLETED');
  const find = (among: typeof all) =>
    among.find(({ key_id: name }) => name === chosen) ??
    among.find(({ provider_key: provider }) => provider === chosen);
  const wanted = find(usable) ?? find(all);
  const isRefused = wanted !== undefined && !usable.includes(wanted);
  const isAbsent = wanted === undefined && chosen !== '' && chosen !== ANY_CONNECTION;
  // If the given connection cannot be used, the operator must choose another connection. If none is given, the first
  // usable connection is selected.
  const connection = isRefused || isAbsent ? undefined : (wanted ?? usable[0]);
  const details = useQuery({
    queryKey: ['connection', connection?.id],
    enabled: connection !== undefined,
    queryFn: () => {
      const path = { connection_id: connection?.id ?? '' };
      return take(api.GET('/api/v1/connections/{connection_id}', { params: { path } }));
    },
  });
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const type = details.data?.connection.authorization_type;

  return (
    <dialog ref={dialog} aria-label="Connect an account" onClose={onClose}>
      <h2>Connect an account</h2>
      <Trouble error={connections.error} />
      {isRefused && (
        <div className="advice" role="status">
          <p>
            {wanted.enabled ? (
              <>
                The connection <bdi>{wanted.key_id}</bdi> is a draft: it lacks settings that users need to connect.
              </>
            ) : (
              <>
                The connection <bdi>{wanted.key_id}</bdi> is disabled, so no account can be connected with it.
              </>
            )}{' '}
            <Link to="/connections/$id" params={{ id: wanted.id }}>
              {wanted.enabled ? 'Complete the connection' : 'Open the connection'}
            </Link>
          </p>
        </div>
      )}
      {connections.data && isAbsent && (
        <div role="status">
          <p>
            There is no connection to <bdi>{chosen}</bdi> yet. Set one up first.
          </p>
        </div>
      )}
      {connections.data && usable.length === 0 && !isRefused && !isAbsent && (
        <div>
          <p>First set up a connection to an application, such as GitHub.</p>
        </div>
      )}
      {usable.length > 0 && (
        <Field label="Connection">
          {(id) => (
            <select
              id={id}
              name="connector"
              value={connection?.key_id ?? ''}
              onChange={({ target }) => setChosen(target.value)}
            >
              {!connection && <option value="">Choose another connection</option>}
              {usable.map(({ id, key_id, provider_key }) => (
                <option key={id} value={key_id}>
                  {key_id === provider_key ? key_id : `${key_id} (${provider_key})`}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <Trouble error={details.error} />
      {connections.data && !connection && (
        <div className="actions end">
          <Button onClick={onClose}>Close</Button>
          {!isRefused && may('connections:write') && (
            <Link className="button primary" to="/connections/new" search={isAbsent ? { provider: chosen } : {}}>
              Set up a connection
            </Link>
          )}
        </div>
      )}
      {connection && type && isStored(type) && (
        <StoreAccount key={connection.id} connection={connection} type={type} onClose={onClose} />
      )}
      {connection && !(type && isStored(type)) && (
        <LinkForm key={connection.id} connector={connection.key_id} isReady={type !== undefined} onClose={onClose} />
      )}
    </dialog>
  );
}

interface LinkFormProps {
  connector: string;
  isReady: boolean;
  onClose(): void;
}

function LinkForm({ connector, isReady, onClose }: LinkFormProps) {
  const [link, setLink] = useState('');
  const create = useMutation({
    async mutationFn({
      key,
      here,
    }: {
      key: { connector: string; identifier: string; user_id: string };
      here: boolean;
    }) {
      if (!here) return { here, ...(await createLinkToSend(key, await addressOfApplication())) };
      await allowVerifyAddress();
      return { here, ...(await createLinkForHere(key, key.identifier)) };
    },
    onSuccess({ link, here }) {
      if (here) location.assign(link);
      else setLink(link);
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget, (event.nativeEvent as SubmitEvent).submitter);
    const key = { connector, identifier: String(form.get('identifier')), user_id: String(form.get('user_id')) };
    create.mutate({ key, here: form.get('do') === 'here' });
  };
  return (
    <form onSubmit={submit}>
      <OwnerFields />
      <Trouble error={create.error} />
      {create.error instanceof ApiProblem && create.error.problem['connection_id'] !== undefined && (
        <p>
          <Link to="/connections/$id" params={{ id: String(create.error.problem['connection_id']) }}>
            Complete the connection
          </Link>
        </p>
      )}
      {link && (
        <>
          <p>Send this link to the user. It works once.</p>
          <Copy text={link} label="the link" block />
        </>
      )}
      <div className="actions end">
        <Button onClick={onClose}>Close</Button>
        <Button type="submit" name="do" value="link" disabled={!isReady || create.isPending}>
          Create a link to send
        </Button>
        <Button type="submit" name="do" value="here" kind="primary" disabled={!isReady || create.isPending}>
          Connect here
        </Button>
      </div>
    </form>
  );
}

/** Adds the console to the addresses to which users may return. Does nothing if the operator is not an owner. */
export async function allowVerifyAddress(): Promise<void> {
  if (!may('admin')) return;
  const { environment } = await take(api.GET('/api/v1/environment'));
  const urls = environment.user_verify_urls;
  if (urls.includes(verifyAddress())) return;
  await take(api.PUT('/api/v1/environment', { body: { user_verify_urls: [...urls, verifyAddress()] } }));
}

/** Returns the address of the application to which users return; empty if there is none or only owners may see it. */
async function addressOfApplication(): Promise<string> {
  if (!may('admin')) return '';
  const { environment } = await take(api.GET('/api/v1/environment'));
  return environment.user_verify_urls.find((url) => url !== verifyAddress()) ?? '';
}
