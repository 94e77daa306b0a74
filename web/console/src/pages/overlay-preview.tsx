import type { Schemas } from '../api.ts';
import { Facts, Json, Status } from '../ui/parts.tsx';
import { Tabs } from '../ui/tabs.tsx';

type Tool = Schemas['Tool'];
type Body = Schemas['PreviewToolOverlayRequest'];

/** The changes that an overlay makes, in words, and the tool as agents get it. */
export function OverlayPreview({ before, after, body }: { before: Tool; after: Tool | undefined; body: Body }) {
  if (!after)
    return (
      <p className="result-head">
        <Status value="DISABLED" label="Hidden" /> Agents do not find {before.name}, and calls of it are rejected.
      </p>
    );
  const presets = Object.entries(body.preset_inputs ?? {}).map(
    ([name, value]) => [name, `always ${JSON.stringify(value)}; callers do not see it`] as const,
  );
  const allowed = Object.entries(body.allowed_values ?? {}).map(
    ([name, values]) => [name, `only ${values.map((value) => JSON.stringify(value)).join(', ')}`] as const,
  );
  const restricted = [...presets, ...allowed];
  return (
    <>
      <Facts
        rows={[
          ['Name', <code key="name">{after.name}</code>],
          ['Title', after.title],
        ]}
      />
      <p>{after.description}</p>
      {restricted.length > 0 ? (
        <ul className="restrictions">
          {restricted.map(([name, text]) => (
            <li key={name}>
              <code>{name}</code>: {text}
            </li>
          ))}
        </ul>
      ) : (
        <p className="muted">Callers choose all inputs.</p>
      )}
      <Tabs
        label="Input schema"
        panels={{
          'With the overlay': () => <Json value={after.input_schema} label="Input schema with the overlay" />,
          'As defined': () => <Json value={before.input_schema} label="Input schema as defined" />,
        }}
      />
    </>
  );
}
