import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { Button, Field, Loading, Trouble } from '../ui/parts.tsx';
import { OwnerFields } from './owner-fields.tsx';

type Type = Schemas['AuthorizationType'];
type AuthField = Schemas['AuthField'];
type Details = Schemas['AuthorizationDetailsInput'];

/** The fields of an account, for the types that users cannot connect by a link. */
const OWN_FIELDS: Partial<Record<Type, readonly AuthField[]>> = {
  NO_AUTH: [],
  OAUTH_M2M: [],
  WORKSPACE_DWD: [{ field_name: 'subject', label: 'User to act for', input_type: 'text', required: true }],
  TRUSTED_IDP: [
    { field_name: 'db_user', label: 'Database user', input_type: 'text', hint: 'Only for provisioned clusters.' },
  ],
};

/** Whether accounts of a type are stored by the application instead of connected by their users. */
export function isStored(type: Type): boolean {
  return Object.hasOwn(OWN_FIELDS, type);
}

interface StoreAccountProps {
  connection: Pick<Schemas['Connection'], 'key_id' | 'provider_key'>;
  type: Type;
  onClose(): void;
}

/** A form that stores an account which has no user who could give consent. */
export function StoreAccount({
  connection: { key_id: connector, provider_key: identifier },
  type,
  onClose,
}: StoreAccountProps) {
  const navigate = useNavigate();
  const provider = useQuery({
    queryKey: ['providers', 'one', identifier],
    queryFn: () => take(api.GET('/api/v1/providers/{identifier}', { params: { path: { identifier } } })),
  });
  const store = useMutation({
    mutationFn: (body: Schemas['CreateConnectedAccountRequest']) =>
      take(api.POST('/api/v1/connected_accounts', { body })),
    onSuccess: ({ connected_account: { id } }) => void navigate({ to: '/accounts/$id', params: { id } }),
  });
  if (!provider.data) return provider.error ? <Trouble error={provider.error} /> : <Loading />;
  const pattern = provider.data.provider.auth_patterns.find((each) => each.type === type);
  const settings = (pattern?.account_fields ?? []) as AuthField[];
  const secrets = (pattern && 'fields' in pattern ? (pattern.fields ?? []) : []) as AuthField[];
  const own = OWN_FIELDS[type] ?? [];
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const valuesOf = (fields: readonly AuthField[]) =>
      Object.fromEntries(
        fields.map(({ field_name: name }) => [name, String(form.get(name) ?? '')]).filter(([, value]) => value !== ''),
      ) as Record<string, string>;
    const details = detailsOf(type, valuesOf(own), valuesOf(secrets));
    store.mutate({
      connector,
      user_id: String(form.get('user_id')),
      identifier: String(form.get('identifier')),
      connected_account: { api_config: valuesOf(settings), ...(details && { authorization_details: details }) },
    });
  };
  return (
    <form onSubmit={submit}>
      <p className="muted">Accounts of this type have no user who gives consent: you store them.</p>
      <OwnerFields />
      {[...settings, ...secrets, ...own].map(({ field_name: name, label, input_type: input, hint, required }) => (
        <Field key={name} label={label} hint={hint}>
          {(id) => (
            <input
              id={id}
              name={name}
              type={input === 'password' ? 'password' : 'text'}
              required={required === true}
              autoComplete="off"
            />
          )}
        </Field>
      ))}
      <Trouble error={store.error} />
      <div className="actions end">
        <Button onClick={onClose}>Close</Button>
        <Button type="submit" kind="primary" disabled={store.isPending}>
          Store the account
        </Button>
      </div>
    </form>
  );
}

/** Returns the credentials of the account in the form of the contract; undefined for a type without any. */
function detailsOf(type: Type, own: Record<string, string>, secrets: Record<string, string>): Details | undefined {
  if (type === 'WORKSPACE_DWD') return { workspace_dwd: { subject: own['subject'] ?? '' } };
  if (type === 'TRUSTED_IDP') return { trusted_idp: own };
  return Object.keys(secrets).length > 0 ? { static_auth: { details: secrets } } : undefined;
}
