import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, Navigate, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiProblem, api, type Schemas, take } from '../api.ts';
import { may } from '../session.ts';
import { FailedPage } from '../ui/failed-page.tsx';
import { Button, Confirm, Loading, Page, Status, Trouble } from '../ui/parts.tsx';
import { RoleNote } from '../ui/role-note.tsx';
import { findOverlay } from './find-overlay.ts';
import { OverlayForm } from './overlay-form.tsx';
import { OverlayState } from './overlays.tsx';

const BACK = { to: '/overlays', label: 'All overlays' } as const;

type Tool = Schemas['Tool'];
type Overlay = Schemas['ToolOverlay'];

const isMissing = (error: unknown) => error instanceof ApiProblem && error.status === 404;

/** The overlay of one tool: an existing one, or a new one. */
export function OverlayPage() {
  const { name } = useParams({ strict: false }) as { name: string };
  const path = { tool_name: name };
  const tool = useQuery({
    queryKey: ['overlay tool', name],
    queryFn: () => take(api.POST('/api/v1/tool_overlays/{tool_name}:preview', { params: { path }, body: {} })),
  });
  const overlay = useQuery({
    queryKey: ['overlays', 'one', name],
    // A list is requested, because it does not fail for a tool without an overlay.
    queryFn: () => findOverlay((row) => row.tool_name === name),
  });
  if (tool.isPending || overlay.isPending) return <Loading />;
  if (isMissing(tool.error)) return <WithoutTool name={name} overlay={overlay.data ?? null} />;
  const error = tool.error ?? overlay.error;
  if (error || !tool.data) return <FailedPage title="Overlay" error={error} back={BACK} />;
  return <Editor key={name} tool={tool.data.tool} overlay={overlay.data ?? null} />;
}

function Editor({ tool, overlay }: { tool: Tool; overlay: Overlay | null }) {
  return (
    <Page
      back={BACK}
      title={`Overlay of ${tool.title}`}
      lead={<code>{tool.name}</code>}
      actions={
        overlay ? (
          <>
            <OverlayState overlay={overlay} />
            <DeleteOverlay name={tool.name} />
          </>
        ) : (
          <Status value="NEUTRAL" label="No overlay yet" />
        )
      }
    >
      {overlay?.status_reason && <p className="advice">{overlay.status_reason}</p>}
      <RoleNote scope="tools:write" action="change overlays" />
      <OverlayForm tool={tool} overlay={overlay} />
    </Page>
  );
}

/**
 * The page for a name that no tool has as its own name. An overlay may have assigned the name, or the name may belong
 * to an overlay whose tool was deleted.
 */
function WithoutTool({ name, overlay }: { name: string; overlay: Overlay | null }) {
  const renamed = useQuery({
    queryKey: ['overlays', 'named', name],
    queryFn: () => findOverlay((row) => row.new_name === name),
    enabled: overlay === null,
  });
  if (overlay)
    return (
      <Page back={BACK} title="Overlay" lead={<code>{name}</code>} actions={<DeleteOverlay name={name} />}>
        <p className="advice">{overlay.status_reason}</p>
      </Page>
    );
  if (renamed.isPending) return <Loading />;
  if (renamed.data) return <Navigate to="/overlays/$name" params={{ name: renamed.data.tool_name }} replace />;
  return (
    <Page back={BACK} title="Overlay" lead={<code>{name}</code>}>
      <p>
        There is no tool with this name. Choose one under <Link to="/overlays">Tool overlays</Link>, or search the{' '}
        <Link to="/tools" search={{ query: name }}>
          tools
        </Link>
        .
      </p>
    </Page>
  );
}

function DeleteOverlay({ name }: { name: string }) {
  const [isConfirming, setConfirming] = useState(false);
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => take(api.DELETE('/api/v1/tool_overlays/{tool_name}', { params: { path: { tool_name: name } } })),
    onSuccess: () => void navigate({ to: '/overlays' }),
  });
  if (!may('tools:write')) return null;
  return (
    <>
      <Button kind="danger" onClick={() => setConfirming(true)}>
        Delete …
      </Button>
      <Trouble error={remove.error} />
      {isConfirming && (
        <Confirm
          title="Delete this overlay?"
          action="Delete"
          onClose={() => setConfirming(false)}
          onConfirm={() => {
            setConfirming(false);
            remove.mutate();
          }}
        >
          <p>Agents see and run {name} as it is defined again, without its preset and restricted inputs.</p>
        </Confirm>
      )}
    </>
  );
}
