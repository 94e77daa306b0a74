import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { ApiProblem, api, take } from '../api.ts';
import { currentSession, may } from '../session.ts';
import { Button, Copy, Field, Trouble } from '../ui/parts.tsx';
import { createLinkForHere, createLinkToSend, verifyAddress } from './link.ts';

/** A form that creates a link for an account: to open it here, or to send it to the user. */
export function ConnectAccount({ connector: given, onClose }: { connector: string; onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [link, setLink] = useState('');
  const connections = useQuery({
    queryKey: ['connections', 'names'],
    queryFn: () => take(api.GET('/api/v1/connections', { params: { query: { page_size: 100 } } })),
  });
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
  useEffect(() => {
    dialog.current?.showModal();
  }, []);

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget, (event.nativeEvent as SubmitEvent).submitter);
    const key = {
      connector: String(form.get('connector')),
      identifier: String(form.get('identifier')),
      user_id: String(form.get('user_id')),
    };
    create.mutate({ key, here: form.get('do') === 'here' });
  };
  const usable = (connections.data?.connections ?? []).filter(
    ({ enabled, status }) => enabled && status === 'COMPLETED',
  );

  return (
    <dialog ref={dialog} aria-label="Connect an account" onClose={onClose}>
      <h2>Connect an account</h2>
      {connections.data && usable.length === 0 ? (
        <>
          <p>First set up a connection to an application, such as GitHub.</p>
          <p>
            <Link to="/connections/new">Set up a connection</Link>
          </p>
        </>
      ) : (
        <form onSubmit={submit}>
          <Field label="Connection">
            {(id) => (
              <select id={id} name="connector" required defaultValue={given} key={String(connections.isSuccess)}>
                {usable.map(({ id, key_id, provider_key }) => (
                  <option key={id} value={key_id}>
                    {key_id === provider_key ? key_id : `${key_id} (${provider_key})`}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label="User id" hint="The user of your application who owns the account.">
            {(id) => (
              <input id={id} name="user_id" required maxLength={255} defaultValue={currentSession()?.operator} />
            )}
          </Field>
          <Field label="Identifier" hint="Tells the accounts of a user apart, for example an email address.">
            {(id) => (
              <input id={id} name="identifier" required maxLength={255} defaultValue={currentSession()?.operator} />
            )}
          </Field>
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
            <Button type="submit" name="do" value="link">
              Create a link to send
            </Button>
            <Button type="submit" name="do" value="here" kind="primary" disabled={create.isPending}>
              Connect here
            </Button>
          </div>
        </form>
      )}
    </dialog>
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
