import type { CreateLinkTools } from '../accounts/links/create-link.ts';
import type { VerifyTools } from '../accounts/links/verify.ts';

/** Links by which users connect accounts. */
export type Links = CreateLinkTools & VerifyTools;
