'use client';
import { InvitationsPanel } from '../../../src/organization/invitations-panel';
import { MembersPanel } from '../../../src/organization/members-panel';

/** Members of the organization, and invitations. */
export default function MembersPage() {
  return (
    <>
      <MembersPanel />
      <InvitationsPanel />
    </>
  );
}
