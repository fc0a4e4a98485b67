'use client';
import { InvitationsPanel } from '../../../src/organization/invitations-panel';
import { MembersPanel } from '../../../src/organization/members-panel';

/** Who belongs to the organization, and who is invited. */
export default function MembersPage() {
  return (
    <>
      <MembersPanel />
      <InvitationsPanel />
    </>
  );
}
