import { useQuery } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import type { Schemas } from '../api.ts';
import { may } from '../session.ts';
import { Check } from '../ui/check.tsx';
import { Card, Copy, Field } from '../ui/parts.tsx';
import { SaveActions } from '../ui/save-actions.tsx';
import { providerQuery } from './provider-query.ts';
import { useConnectionUpdate } from './update-connection.ts';

type Connection = Schemas['ConnectionConfiguration'];

/**
 * The client that the operator has registered at the provider: the callback to copy, the id, the secret and the scopes.
 */
export function ClientOfConnection({ connection }: { connection: Connection }) {
  const provider = useQuery(providerQuery(connection.provider_key));
  const save = useConnectionUpdate(connection.id);
  const pattern = provider.data?.provider.auth_patterns.find(({ type }) => type === connection.authorization_type);
  const offered = (
    pattern && 'oauth_config' in pattern && pattern.oauth_config && 'available_scopes' in pattern.oauth_config
      ? pattern.oauth_config.available_scopes
      : []
  ) as Schemas['OAuthScope'][];
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const secret = String(form.get('client_secret'));
    const more = String(form.get('more'))
      .split(/[\s,]+/)
      .filter(Boolean);
    save.mutate({
      client_id: String(form.get('client_id')).trim() || null,
      ...(secret && { client_secret: secret }),
      scopes: [...form.getAll('scope').map(String), ...more],
    });
  };
  const others = connection.scopes.filter((scope) => !offered.some((each) => each.scope === scope));
  return (
    <Card
      title={
        connection.status === 'COMPLETED'
          ? 'Your client at the application'
          : 'Step 3 of 3: your client at the application'
      }
    >
      <ol className="stack">
        <li className="stack">
          <h3>1. Register an application at {provider.data?.provider.display_name ?? connection.provider_key}</h3>
          <p>Enter this address there as the callback, also called redirect URI:</p>
          <Copy text={connection.callback_url} label="the callback address" />
        </li>
        <li className="stack">
          <h3>2. Enter its client here</h3>
          <form className="stack" onSubmit={submit} key={connection.updated_at}>
            <fieldset className="plain-fieldset" disabled={!may('connections:write')}>
              <Field label="Client id">
                {(id) => (
                  <input
                    id={id}
                    name="client_id"
                    autoComplete="off"
                    maxLength={500}
                    defaultValue={connection.client_id}
                  />
                )}
              </Field>
              <Field
                label="Client secret"
                hint={
                  connection.has_client_secret
                    ? 'A secret is stored. Leave the field empty to keep it.'
                    : 'It is stored encrypted and is never shown again.'
                }
              >
                {(id) => (
                  <input id={id} name="client_secret" type="password" autoComplete="new-password" maxLength={4000} />
                )}
              </Field>
              {offered.length > 0 && (
                <fieldset className="plain-fieldset" data-field="scopes">
                  <legend>Scopes that users are asked for</legend>
                  {offered.map(({ scope, display_name: name, description, required }) => (
                    <Check
                      key={scope}
                      name="scope"
                      value={scope}
                      label={
                        <>
                          {name ?? scope} <code className="muted">{scope}</code>
                        </>
                      }
                      hint={description}
                      defaultChecked={
                        connection.scopes.length === 0 ? required === true : connection.scopes.includes(scope)
                      }
                    />
                  ))}
                  <div className="field-error" />
                </fieldset>
              )}
              <Field label={offered.length > 0 ? 'Other scopes' : 'Scopes'} hint="Separated by spaces.">
                {(id) => <input id={id} name="more" data-field="scopes" defaultValue={others.join(' ')} />}
              </Field>
              <SaveActions save={save} />
            </fieldset>
          </form>
        </li>
      </ol>
    </Card>
  );
}
