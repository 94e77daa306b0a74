import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { ApiProblem, api, take } from '../api.ts';
import { currentSession, may } from '../session.ts';
import { Button, Copy, Field, Trouble } from '../ui/parts.tsx';
import { createLinkForHere, createLinkToSend, verifyAddress } from './link.ts';
import { isStored, StoreAccount } from './store-account.tsx';

/** A form that creates a link for an account: to open it here, or to send it to the user. */
export function ConnectAccount({ connector: given, onClose }: { connector: string; onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [chosen, setChosen] = useState(given);
  const connections = useQuery({
    queryKey: ['connections', 'names'],
    queryFn: () => take(api.GET('/api/v1/connections', { params: { query: { page_size: 100 } } })),
  });
  const usable = (connections.data?.connections ?? []).filter(
    ({ enabled, status }) => enabled && status === 'COMPLETED',
  );
  const connection =
    usable.find(({ key_id: name }) => name === chosen) ??
    usable.find(({ provider_key: provider }) => provider === chosen) ??
    usable[0];
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
      {connections.data && !connection && (
        <>
          <div>
            <p>First set up a connection to an application, such as GitHub.</p>
          </div>
          <div className="actions end">
            <Button onClick={onClose}>Close</Button>
            {may('connections:write') && (
              <Link className="button primary" to="/connections/new">
                Set up a connection
              </Link>
            )}
          </div>
        </>
      )}
      {connection && (
        <>
          <Field label="Connection">
            {(id) => (
              <select id={id} value={connection.key_id} onChange={({ target }) => setChosen(target.value)}>
                {usable.map(({ id, key_id, provider_key }) => (
                  <option key={id} value={key_id}>
                    {key_id === provider_key ? key_id : `${key_id} (${provider_key})`}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Trouble error={details.error} />
          {type && isStored(type) ? (
            <StoreAccount key={connection.id} connection={connection} type={type} onClose={onClose} />
          ) : (
            <LinkForm
              key={connection.id}
              connector={connection.key_id}
              isReady={type !== undefined}
              onClose={onClose}
            />
          )}
        </>
      )}
    </dialog>
  );
}

/** The owner of the account, and its name. */
export function OwnerFields() {
  const operator = currentSession()?.operator;
  return (
    <>
      <Field label="User id" hint="The user of your application who owns the account.">
        {(id) => <input id={id} name="user_id" required maxLength={100} defaultValue={operator} />}
      </Field>
      <Field label="Identifier" hint="Tells the accounts of a user apart, for example an email address.">
        {(id) => <input id={id} name="identifier" required maxLength={255} defaultValue={operator} />}
      </Field>
    </>
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

/** Adds the console to the addresses to which users may return, if it is not there. Only an owner can do so. */
export async function allowVerifyAddress(): Promise<void> {
  if (!may('admin')) return;
  const { environment } = await take(api.GET('/api/v1/environment'));
  const urls = environment.user_verify_urls;
  if (urls.includes(verifyAddress())) return;
  await take(api.PUT('/api/v1/environment', { body: { user_verify_urls: [...urls, verifyAddress()] } }));
}

/** Returns the address to which the application lets its users return; empty if it has none. */
async function addressOfApplication(): Promise<string> {
  if (!may('admin')) return '';
  const { environment } = await take(api.GET('/api/v1/environment'));
  return environment.user_verify_urls.find((url) => url !== verifyAddress()) ?? '';
}
