import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { may } from '../session.ts';
import { Check } from '../ui/check.tsx';
import { Button, Card, Field, Trouble } from '../ui/parts.tsx';
import { OverlayPreview } from './overlay-preview.tsx';
import { type InputSchema, type Restriction, restrictionOf, typedValue } from './overlay-values.ts';

type Tool = Schemas['Tool'];
type Overlay = Schemas['ToolOverlay'];
type Body = Schemas['PreviewToolOverlayRequest'];

const NONE = { preset_inputs: {}, allowed_values: {} };
const TYPING_MS = 400;

const inputsOf = (tool: Tool) =>
  Object.entries((tool.input_schema as { properties?: Record<string, InputSchema> }).properties ?? {});

/**
 * The settings of an overlay, beside a preview of the tool as callers then see it. The server computes the preview
 * while the user types.
 */
export function OverlayForm({ tool, overlay }: { tool: Tool; overlay: Overlay | null }) {
  const inputs = inputsOf(tool);
  const [texts, setTexts] = useState({
    hidden: overlay?.hidden ?? false,
    newName: overlay?.new_name ?? '',
    title: overlay?.title ?? '',
    added: overlay?.added_description ?? '',
  });
  const [restrictions, setRestrictions] = useState<Record<string, Restriction>>(() =>
    Object.fromEntries(inputs.map(([name, schema]) => [name, restrictionOf(overlay ?? NONE, name, schema)])),
  );
  const { body, problems } = bodyOf(inputs, texts, restrictions);
  const settled = useSettled(JSON.stringify(body));
  const path = { tool_name: tool.name };
  const preview = useQuery({
    queryKey: ['overlay preview', tool.name, settled],
    queryFn: () =>
      take(
        api.POST('/api/v1/tool_overlays/{tool_name}:preview', { params: { path }, body: JSON.parse(settled) as Body }),
      ),
    placeholderData: keepPreviousData,
  });
  const save = useMutation({
    mutationFn: () => take(api.PUT('/api/v1/tool_overlays/{tool_name}', { params: { path }, body })),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    save.mutate();
  };
  const set = (changes: Partial<typeof texts>) => {
    save.reset();
    setTexts({ ...texts, ...changes });
  };
  const restrict = (name: string, restriction: Restriction) => {
    save.reset();
    setRestrictions({ ...restrictions, [name]: restriction });
  };
  const shownName = save.data?.overlay.new_name ?? tool.name;
  return (
    <div className="columns">
      <Card title="Settings">
        <form className="stack" onSubmit={submit}>
          <fieldset className="plain-fieldset" disabled={!may('tools:write')}>
            <Check
              name="hidden"
              label="Hide the tool: agents neither find nor run it"
              checked={texts.hidden}
              onChange={({ target }) => set({ hidden: target.checked })}
            />
            <Field label="Name" hint="Lower-case letters, digits and underscores. Empty: its own name.">
              {(id) => (
                <input
                  id={id}
                  name="new_name"
                  value={texts.newName}
                  placeholder={tool.name}
                  pattern="[a-z][a-z0-9_]{0,63}"
                  autoComplete="off"
                  onChange={({ target }) => set({ newName: target.value })}
                />
              )}
            </Field>
            <Field label="Title">
              {(id) => (
                <input
                  id={id}
                  name="title"
                  value={texts.title}
                  placeholder={tool.title}
                  maxLength={100}
                  onChange={({ target }) => set({ title: target.value })}
                />
              )}
            </Field>
            <Field label="Words to add to the description" hint="Agents read them after the description of the tool.">
              {(id) => (
                <textarea
                  id={id}
                  className="short"
                  name="added_description"
                  value={texts.added}
                  maxLength={500}
                  placeholder="Use it for bugs of the shop only."
                  onChange={({ target }) => set({ added: target.value })}
                />
              )}
            </Field>
          </fieldset>
          <fieldset className="plain-fieldset" disabled={!may('tools:write')}>
            <legend>Inputs</legend>
            {inputs.map(([name, schema]) => (
              <InputRestriction
                key={name}
                name={name}
                schema={schema}
                restriction={restrictions[name] ?? { kind: 'free' }}
                problem={problems[name]}
                onChange={(restriction) => restrict(name, restriction)}
              />
            ))}
          </fieldset>
          <Trouble error={save.error} />
          {may('tools:write') && (
            <div className="actions">
              <Button type="submit" kind="primary" disabled={save.isPending || Object.keys(problems).length > 0}>
                {save.isPending ? 'Saving …' : 'Save the overlay'}
              </Button>
              <span role="status">
                {save.isSuccess && 'Saved. It applies from the next call. '}
                {save.isSuccess && !save.data.overlay.hidden && (
                  <Link to="/tools/$name" params={{ name: shownName }}>
                    Try the tool
                  </Link>
                )}
              </span>
            </div>
          )}
        </form>
      </Card>
      <div className="stack in-sight">
        <Card title="Preview">
          {preview.error ? (
            <Trouble error={preview.error} />
          ) : (
            preview.data && <OverlayPreview before={preview.data.tool} after={preview.data.shown_tool} body={body} />
          )}
        </Card>
      </div>
    </div>
  );
}

/** Returns the last version of a text that stayed unchanged for `TYPING_MS`. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

interface Texts {
  hidden: boolean;
  newName: string;
  title: string;
  added: string;
}

/** Returns the request without inputs whose values are invalid, and the errors of these inputs. */
function bodyOf(
  inputs: readonly [string, InputSchema][],
  { hidden, newName, title, added }: Texts,
  restrictions: Record<string, Restriction>,
): { body: Body; problems: Record<string, string> } {
  const values = { preset: {} as Record<string, unknown>, allowed: {} as Record<string, unknown[]> };
  const problems: Record<string, string> = {};
  for (const [name, schema] of inputs) {
    const restriction = restrictions[name];
    if (!restriction || restriction.kind === 'free') continue;
    try {
      values[restriction.kind][name] = typedValue(restriction, schema) as unknown[];
    } catch (error) {
      problems[name] = (error as Error).message;
    }
  }
  const texts = {
    ...(newName.trim() && { new_name: newName.trim() }),
    ...(title.trim() && { title: title.trim() }),
    ...(added.trim() && { added_description: added.trim() }),
  };
  return { body: { hidden, ...texts, preset_inputs: values.preset, allowed_values: values.allowed }, problems };
}

interface InputProps {
  name: string;
  schema: InputSchema;
  restriction: Restriction;
  problem: string | undefined;
  onChange(restriction: Restriction): void;
}

function InputRestriction({ name, schema, restriction, problem, onChange }: InputProps) {
  const { kind } = restriction;
  const text = kind === 'free' ? '' : restriction.text;
  const type = [schema['type']].flat().filter(Boolean).join(' or ');
  const description = String(schema['description'] ?? '');
  const change = (value: string) => {
    if (kind !== 'free') onChange({ kind, text: value });
  };
  return (
    <div className="stack overlay-input">
      <Field label={name} hint={[type, description].filter(Boolean).join(': ')}>
        {(id) => (
          <select
            id={id}
            value={kind}
            onChange={({ target }) =>
              onChange(
                target.value === 'free' ? { kind: 'free' } : { kind: target.value as 'preset' | 'allowed', text },
              )
            }
          >
            <option value="free">Callers choose</option>
            <option value="preset">Always this value</option>
            <option value="allowed">Only these values</option>
          </select>
        )}
      </Field>
      {kind !== 'free' && (
        <Field
          label={kind === 'preset' ? `Value of ${name}` : `Values of ${name}, one in each line`}
          hint={problem && <span role="status">{problem}</span>}
        >
          {(id) => (
            <textarea
              id={id}
              name={name}
              className="short"
              value={text}
              spellCheck={false}
              onChange={({ target }) => change(target.value)}
            />
          )}
        </Field>
      )}
    </div>
  );
}
