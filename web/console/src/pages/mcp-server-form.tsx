import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { Check } from '../ui/check.tsx';
import { Button, Field, Trouble } from '../ui/parts.tsx';
import { isMcpProvider, providerQuery } from './provider-query.ts';

type Config = Schemas['McpConfig'];

/** The form of an MCP server with the tools of several connections: a new server, or an existing one. */
export function ServerForm({ config }: { config?: Config }) {
  const connections = useQuery({
    queryKey: ['connections', 'names'],
    queryFn: () => take(api.GET('/api/v1/connections', { params: { query: { page_size: 100 } } })),
  });
  const save = useMutation({
    mutationFn: (body: Schemas['CreateMcpConfigRequest']) =>
      config
        ? take(api.PUT('/api/v1/mcp/configs/{config_id}', { params: { path: { config_id: config.id } }, body }))
        : take(api.POST('/api/v1/mcp/configs', { body })),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const mappings = form.getAll('connection').map((value) => {
      const tools = String(form.get(`tools ${value}`) ?? '').split(/\s+/);
      const chosen = [...new Set(tools.filter(Boolean))];
      const offered = {
        connection_id: String(value),
        resources: form.has(`resources ${value}`),
        prompts: form.has(`prompts ${value}`),
      };
      if (chosen.length > 0) return { ...offered, tools: chosen };
      const most = String(form.get(`max_listed_tools ${value}`) ?? '');
      return { ...offered, tools: null, max_listed_tools: most === '' ? null : Number(most) };
    });
    save.mutate({ name: String(form.get('name')), description: String(form.get('description')), mappings });
  };
  // `mappings.1.tools.0` → `mappings.tools conn_…`: the names of controls contain the connection's id, not its index.
  const controlName = (field: string) =>
    field.replace(
      /^mappings\.(\d+)\.(tools|max_listed_tools|resources|prompts)\b.*/,
      (_, index: string, name: string) => `mappings.${name} ${save.variables?.mappings[Number(index)]?.connection_id}`,
    );
  const options = optionsOf(connections.data?.connections ?? [], config);
  if (options.length === 0) return null;
  return (
    <form className="stack" onSubmit={submit}>
      <Field label="Name">
        {(id) => (
          <input
            id={id}
            name="name"
            required
            maxLength={100}
            placeholder="Support agents"
            defaultValue={config?.name ?? ''}
          />
        )}
      </Field>
      <Field label="Purpose">
        {(id) => <input id={id} name="description" maxLength={1000} defaultValue={config?.description ?? ''} />}
      </Field>
      <fieldset className="plain-fieldset" data-field="mappings">
        <legend>Connections whose tools it offers</legend>
        {options.map((option) => (
          <Mapping key={option.id} {...option} />
        ))}
        <div className="field-error" />
      </fieldset>
      <Trouble error={save.error} controlName={controlName} />
      <div className="actions">
        <Button type="submit" kind="primary" disabled={save.isPending}>
          {config ? 'Save the server' : 'Create'}
        </Button>
        <span role="status">{save.isSuccess && (config ? 'Saved.' : `${save.data.config.name} was created.`)}</span>
      </div>
    </form>
  );
}

interface Option {
  id: string;
  name: string;
  provider: string;
  chosen: boolean;
  tools: readonly string[];
  /** The maximum number of tools that are listed if none are named; null for all. */
  listed: number | null;
  resources: boolean;
  prompts: boolean;
}

/** The default of the API for `max_listed_tools`. */
const LISTED = 40;

/** Returns the connections of the MCP server in its order, then the other connections. */
function optionsOf(connections: readonly Schemas['Connection'][], config: Config | undefined): Option[] {
  const known = new Map(connections.map((connection) => [connection.id, connection]));
  const chosen = (config?.mappings ?? []).map(({ connection_id: id, tools, max_listed_tools: listed, ...offered }) => ({
    id,
    name: known.get(id)?.key_id ?? id,
    provider: known.get(id)?.provider_key ?? '',
    chosen: true,
    tools: tools ?? [],
    listed: tools ? LISTED : listed,
    ...offered,
  }));
  const others = connections.filter(({ id }) => chosen.every((option) => option.id !== id));
  const unset = { chosen: false, tools: [], listed: LISTED, resources: false, prompts: false };
  return [
    ...chosen,
    ...others.map(({ id, key_id: name, provider_key: provider }) => ({ id, name, provider, ...unset })),
  ];
}

function Mapping({ id, name, provider, chosen, tools, listed, resources, prompts }: Option) {
  const [isChosen, setChosen] = useState(chosen);
  const details = useQuery({ ...providerQuery(provider), enabled: isChosen && provider !== '' });
  const hasMore = resources || prompts || isMcpProvider(details.data);
  return (
    <div className="stack">
      <Check
        name="connection"
        value={id}
        label={name}
        checked={isChosen}
        onChange={({ target }) => setChosen(target.checked)}
      />
      {isChosen && (
        <div className="stack mapping">
          <Field label={`Tools of ${name}`} hint="Names, one in each line. Empty: all that the connection allows.">
            {(field) => (
              <textarea
                id={field}
                name={`tools ${id}`}
                className="short"
                defaultValue={tools.join('\n')}
                spellCheck={false}
              />
            )}
          </Field>
          <Field
            label={`Maximum listed of ${name}`}
            hint="The most that clients list if no tools are named above. Models find the others by search. Empty: all."
          >
            {(field) => (
              <input
                id={field}
                name={`max_listed_tools ${id}`}
                type="number"
                min={1}
                max={1000}
                defaultValue={listed ?? ''}
              />
            )}
          </Field>
          {hasMore && (
            <>
              <Check name={`resources ${id}`} label={`Resources of ${name}`} defaultChecked={resources} />
              <Check name={`prompts ${id}`} label={`Prompts of ${name}`} defaultChecked={prompts} />
            </>
          )}
        </div>
      )}
    </div>
  );
}
