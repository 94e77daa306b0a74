import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ApiProblem, api, type Schemas, take } from '../api.ts';
import { Button, Card, Confirm, Copy, Field, Loading, Trouble } from '../ui/parts.tsx';
import { SaveActions } from '../ui/save-actions.tsx';

type Provider = Schemas['McpLoginProvider'];
type Type = Provider['type'];

/** The settings of the login provider, which identifies users. Without one, the application identifies them. */
export function LoginProvider() {
  const [isOpen, setOpen] = useState(false);
  return (
    <Card title="Login of users at your company">
      <p className="muted">
        Users of MCP clients and of the portal can log in at an OpenID provider. Without one, your application says who
        a user is (“MCP login address”).
      </p>
      {isOpen ? (
        <LoadedProvider />
      ) : (
        <div className="actions">
          <Button onClick={() => setOpen(true)}>Show the login</Button>
        </div>
      )}
    </Card>
  );
}

/** Loads the provider on request only, because most environments have none, and the server then returns an error. */
function LoadedProvider() {
  const { data, error } = useQuery({ queryKey: ['settings', 'login-provider'], queryFn: load });
  if (error) return <Trouble error={error} />;
  if (data === undefined) return <Loading />;
  return <LoginProviderForm key={data ? 'set' : 'none'} provider={data} />;
}

async function load(): Promise<Provider | null> {
  try {
    return (await take(api.GET('/api/v1/mcp/login_provider'))).login_provider;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return null;
    throw error;
  }
}

function LoginProviderForm({ provider }: { provider: Provider | null }) {
  const [type, setType] = useState<Type>(provider?.type ?? 'OIDC');
  const [isConfirming, setConfirming] = useState(false);
  const save = useMutation({
    mutationFn: (body: Schemas['SetMcpLoginProviderRequest']) => take(api.PUT('/api/v1/mcp/login_provider', { body })),
  });
  const remove = useMutation({ mutationFn: () => take(api.DELETE('/api/v1/mcp/login_provider')) });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    save.mutate(bodyOf(type, new FormData(event.currentTarget), provider));
  };
  return (
    <>
      {provider?.oidc && (
        <>
          <p>Register these redirect URIs at the provider, the second one for logins to the portal at /portal:</p>
          <Copy text={provider.oidc.callback_url} label="the redirect URI" />
          <Copy text={provider.oidc.portal_callback_url} label="the redirect URI of the portal" />
        </>
      )}
      <form className="stack" onSubmit={submit}>
        <Field label="Who identifies users">
          {(id) => (
            <select id={id} name="type" value={type} onChange={({ target }) => setType(target.value as Type)}>
              <option value="OIDC">An OpenID provider: users log in there</option>
              <option value="JWT">An authorization server: MCP clients bring its tokens</option>
            </select>
          )}
        </Field>
        <Text name="issuer" label="Issuer" hint="Exactly as its metadata names it." value={provider?.issuer} required />
        {type === 'OIDC' ? <OidcFields provider={provider} /> : <JwtFields provider={provider} />}
        <Text
          name="identifier"
          label="Claim for the identifier of accounts"
          value={provider?.claims.identifier ?? 'sub'}
          required
        />
        <Text
          name="user_id"
          label="Claim for the user id"
          hint="Empty: accounts have no user."
          value={provider ? provider.claims.user_id : 'sub'}
        />
        <Text
          name="organization_id"
          label="Claim for the organization id"
          hint="Empty: accounts have no organization."
          value={provider?.claims.organization_id}
        />
        <Text
          name="allowed_organizations"
          label="Organizations whose users may log in"
          hint="Separated by spaces. Empty: all."
          value={provider?.allowed_organizations?.join(' ')}
        />
        <SaveActions save={{ ...save, error: save.error ?? remove.error }} label="Save the login">
          {provider && (
            <Button kind="danger" onClick={() => setConfirming(true)}>
              Remove …
            </Button>
          )}
        </SaveActions>
      </form>
      {isConfirming && (
        <Confirm
          title="Remove the login?"
          action="Remove"
          onClose={() => setConfirming(false)}
          onConfirm={() => {
            setConfirming(false);
            remove.mutate();
          }}
        >
          <p>MCP clients whose users logged in at it must log in again.</p>
        </Confirm>
      )}
    </>
  );
}

function OidcFields({ provider }: { provider: Provider | null }) {
  const oidc = provider?.oidc;
  return (
    <>
      <Text name="client_id" label="Client id" value={oidc?.client_id} required />
      <Field
        key={provider?.updated_at}
        label="Client secret"
        hint={oidc?.has_client_secret ? 'Empty: the present secret is kept.' : 'Empty: a public client.'}
      >
        {(id) => <input id={id} name="client_secret" type="password" autoComplete="off" maxLength={2000} />}
      </Field>
      <Text
        name="scopes"
        label="Scopes beside openid"
        hint="Separated by spaces."
        value={oidc?.scopes.filter((scope) => scope !== 'openid').join(' ')}
      />
    </>
  );
}

function JwtFields({ provider }: { provider: Provider | null }) {
  return (
    <>
      <Text
        name="audiences"
        label="Accepted audiences"
        hint="In addition to the addresses of the MCP servers, separated by spaces."
        value={provider?.jwt?.audiences.join(' ')}
      />
      <Text
        name="client_ids"
        label="Accepted clients"
        hint="Separated by spaces. Empty: all."
        value={provider?.jwt?.client_ids?.join(' ')}
      />
    </>
  );
}

function Text({
  name,
  label,
  hint,
  value,
  required = false,
}: {
  name: string;
  label: string;
  hint?: string;
  value?: string | null | undefined;
  required?: boolean;
}) {
  return (
    <Field label={label} hint={hint}>
      {(id) => <input id={id} name={name} required={required} defaultValue={value ?? ''} spellCheck={false} />}
    </Field>
  );
}

/** Returns the request of the form. Settings that the form does not show keep their values. */
function bodyOf(type: Type, form: FormData, before: Provider | null): Schemas['SetMcpLoginProviderRequest'] {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const list = (name: string) => text(name).split(/\s+/).filter(Boolean);
  const common = {
    issuer: text('issuer'),
    claims: {
      identifier: text('identifier'),
      user_id: text('user_id') || null,
      organization_id: text('organization_id') || null,
    },
    allowed_organizations: list('allowed_organizations').length > 0 ? list('allowed_organizations') : null,
    user_verify_url: before?.user_verify_url ?? null,
  };
  if (type === 'JWT') {
    const { algorithms, scopes } = before?.jwt ?? {};
    const clients = list('client_ids');
    const kept = { ...(algorithms && { algorithms: algorithms as ['RS256'] }), ...(scopes && { scopes }) };
    return { type, ...common, ...kept, audiences: list('audiences'), client_ids: clients.length > 0 ? clients : null };
  }
  const secret = text('client_secret');
  const isSameClient = before?.oidc?.client_id === text('client_id') && before.issuer === common.issuer;
  const method = isSameClient && (!secret || before?.oidc?.token_endpoint_auth_method !== 'none');
  return {
    type,
    ...common,
    client_id: text('client_id'),
    scopes: list('scopes'),
    ...(secret && { client_secret: secret }),
    ...(method && before?.oidc && { token_endpoint_auth_method: before.oidc.token_endpoint_auth_method as 'none' }),
  };
}
