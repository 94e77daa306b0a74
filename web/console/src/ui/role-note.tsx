import { may } from '../session.ts';

/** Says before a form that the operator's role does not permit what the form is for. */
export function RoleNote({ scope, action }: { scope: string; action: string }) {
  if (may(scope)) return null;
  return <p className="advice">Your role cannot {action}. Ask an owner for the role editor.</p>;
}
