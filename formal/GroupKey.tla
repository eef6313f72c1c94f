------------------------------ MODULE GroupKey ------------------------------
(***************************************************************************)
(* A group key on CAN when one member, X, is removed and goes on as an     *)
(* attacker.  The first run, in which X was a member, lies behind: all its  *)
(* messages are recorded, and each present member has finished it as far as *)
(* the attacker lets it.  From then on the attacker decides which message   *)
(* reaches whom, when, and how often.  The documentation is                 *)
(* docs/reference/group-key-formal-model.md.                                *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
    Tree,          \* "full3", "full4", "without3", "without4", "symmetric"
    Profile,       \* "as-published", "hardened"
    Installation,  \* "confirmed", "unconfirmed"
    First,         \* who is the most capable: "X", "A" or "B"
    Guard,         \* a master secret has to be above the highest agreed epoch, not only above the installed one
    Window,        \* runs that an old message still counts as timely for: 0 if runs are further apart than age_max
    Epochs,        \* epochs there are
    Restarts,      \* losses of power
    Persists,      \* members keep what the driver has to keep
    Deleted,       \* signed fields that are left out
    Most           \* states to look at where there are more than can be explored; 0 for all

Hardened == Profile = "hardened"
Symmetric == Tree = "symmetric"
Confirmed == Installation = "confirmed"

(* Logical ECUs above X, the lowest first, and who is in the sibling of each one's lower half. *)
Path == CASE Symmetric -> << >> [] Tree = "without4" -> <<"L", "M", "R">> [] OTHER -> <<"L", "R">>
Results == {Path[i] : i \in 1..Len(Path)}
Root == IF Symmetric THEN "none" ELSE "R"
Place(r) == CHOOSE i \in 1..Len(Path) : Path[i] = r
Below(r) == {Path[i] : i \in 1..(Place(r) - 1)}
From(r) == {Path[i] : i \in Place(r)..Len(Path)}
(* Of four members one that only listens is left out of "without4". *)
Members == IF Tree = "full4" THEN {"A", "B", "C"} ELSE {"A", "B"}
Sibling(r) ==
    CASE r = "L" -> {"A"}
      [] r = "M" -> {"B"}
      [] r = "R" /\ Tree = "without4" -> {"O"}
      [] r = "R" /\ Tree = "without3" -> {"B", "O"}
      [] OTHER -> Members \ {"A"}
(* Siblings that are leaves draw a private key for each exchange. *)
IsLeaf(r) == Tree \in {"without3", "without4"} /\ (r = "L" \/ (r = "R" /\ Tree = "without4"))

Rank(m) == CASE m = First -> 0 [] m = "A" -> 1 [] m = "B" -> 2 [] m = "C" -> 3 [] m = "X" -> 4 [] OTHER -> 9
Acting(s) == CHOOSE m \in s : \A o \in s : Rank(m) <= Rank(o)
(* The half that X is, or was, in; the orchestrator stands in for X. *)
LeftOf(r, hasX) == (UNION {Sibling(b) : b \in Below(r)}) \cup (IF hasX THEN {"X"} ELSE {"O"})
SideSet(r, side, hasX) == IF side = 1 THEN LeftOf(r, hasX) ELSE Sibling(r)
Acts(r, side, hasX) == Acting(SideSet(r, side, hasX))
(* The side on which it acts, or else the first on which it is. *)
SideOf(m, r, hasX) ==
    CASE Acts(r, 1, hasX) = m -> 1
      [] Acts(r, 2, hasX) = m -> 2
      [] m \in LeftOf(r, hasX) -> 1
      [] m \in Sibling(r) -> 2
      [] OTHER -> 0

-----------------------------------------------------------------------------
(* Secrets.  A fresh one has a name; a derived one is made of two private keys and of what it is bound to. *)
None == [a |-> "", s |-> {}, c |-> ""]
Fresh(who, r, e) == [a |-> ToString(<<who, r, e>>), s |-> {}, c |-> ""]
Derived(p, q, c) == [a |-> "", s |-> {p, q}, c |-> c]
Evil == Fresh("X", "evil", 0)
Stable(r) == Fresh("sibling", r, 1)

Has(field) == field \notin Deleted
Keep(field, value) == IF Has(field) THEN value ELSE "-"
(* What hardened keys and signatures of an exchange are bound to beside the shares. *)
Context(r, e, t, one, two) ==
    IF Hardened
    THEN ToString(<<Keep("transcript.identifier", r), Keep("transcript.epoch", e), Keep("transcript.time", t),
                    Keep("transcript.first-acting", one), Keep("transcript.second-acting", two)>>)
    ELSE ""

(* The first run. *)
RECURSIVE SecretOf1(_)
LeafOf1(r) == IF IsLeaf(r) THEN Fresh(Acting(Sibling(r)), r, 1) ELSE Stable(r)
LowerOf1(r) == IF Place(r) = 1 THEN Fresh("X", r, 1) ELSE SecretOf1(Path[Place(r) - 1])
ContextOf1(r) == Context(r, 1, 1, Acts(r, 1, TRUE), Acts(r, 2, TRUE))
SecretOf1(r) == Derived(LowerOf1(r), LeafOf1(r), ContextOf1(r))
GroupOf1 == IF Symmetric THEN Fresh("O", "master", 1) ELSE SecretOf1("R")

(* What X holds from the first run; shares are public, so whoever has one private key of a derived secret has it. *)
BaseOfX == {Evil, Fresh("X", "L", 1)} \cup (IF Symmetric THEN {GroupOf1} ELSE {})
RECURSIVE Knows(_)
Knows(t) == t \in BaseOfX \/ \E p \in t.s : Knows(p)

-----------------------------------------------------------------------------
(* Messages.  A signed text is a record whose fields are blank where they are not signed. *)
Signs(field) == Hardened /\ Has(field)
RequestText(step, r, x, e, t, w) ==
    [step |-> Keep("request.identifier", step), r |-> Keep("request.identifier", r),
     x |-> IF Has("request.identifier") THEN x ELSE TRUE, e |-> IF Has("request.epoch") THEN e ELSE 0,
     t |-> IF Signs("request.time") THEN t ELSE 0, w |-> IF Signs("request.membership") THEN w ELSE TRUE]
CommitText(e, t, key) ==
    [e |-> IF Has("commit.epoch") THEN e ELSE 0, t |-> IF Signs("commit.time") THEN t ELSE 0,
     key |-> IF Signs("commit.key-check") THEN key ELSE None]
SaysShare(side, isOwn) ==
    IF ~Hardened THEN Has(IF isOwn THEN "confirmation.own-share" ELSE "confirmation.peer-share")
    ELSE Has(IF (side = 1) = isOwn THEN "transcript.first-share" ELSE "transcript.second-share")
ConfirmationText(by, side, own, peer, c) ==
    [by |-> by, side |-> IF Signs("confirmation.role") THEN side ELSE 0,
     own |-> IF SaysShare(side, TRUE) THEN own ELSE None,
     peer |-> IF SaysShare(side, FALSE) THEN peer ELSE None,
     c |-> IF Has("confirmation.transcript") THEN c ELSE ""]

VARIABLES
    mem,       \* what each member, and the orchestrator, remembers
    lead,      \* how far the orchestrator has come
    requests, commits, shares, confirmations, readies, deliveries,  \* all that was ever on the bus
    losses,    \* losses of power that are left
    committed, \* the highest epoch that is known to all, and was confirmed where that is asked for
    keys,      \* by epoch, the key that somebody took into use first
    bad        \* what went wrong
vars == <<mem, lead, requests, commits, shares, confirmations, readies, deliveries, losses, committed, keys, bad>>
bus == <<requests, commits, shares, confirmations, readies, deliveries>>

NoExchange == [st |-> "none", e |-> 0, c |-> "", one |-> "", two |-> "", mine |-> None, peer |-> None]
Nodes == Members \cup {"O"}

Takes(m) == {r \in Results : SideOf(m, r, TRUE) # 0}
Exchange1(m, r, st) ==
    LET side == SideOf(m, r, TRUE) IN
    [st |-> st, e |-> 1, c |-> ContextOf1(r), one |-> Acts(r, 1, TRUE), two |-> Acts(r, 2, TRUE),
     mine |-> IF side = 1 THEN LowerOf1(r) ELSE LeafOf1(r), peer |-> IF side = 1 THEN LeafOf1(r) ELSE LowerOf1(r)]
(* Before the last step of the first run.  Where keys are confirmed all have done it, and wait for the commit. *)
Remembers1(m) ==
    [view |-> TRUE, epoch |-> 1, agreed |-> IF Confirmed THEN 1 ELSE 0,
     accepted |-> [r \in Results |-> 1],
     secret |-> [r \in Results |->
         IF r \in Takes(m) /\ (r # "R" \/ Confirmed) THEN SecretOf1(r) ELSE None],
     open |-> [r \in Results |->
         IF r = "R" /\ ~Confirmed
         THEN Exchange1(m, r, IF m \in {Acts(r, 1, TRUE), Acts(r, 2, TRUE)} THEN "sent" ELSE "open")
         ELSE NoExchange],
     candidate |-> IF Confirmed THEN [key |-> GroupOf1, e |-> 1] ELSE [key |-> None, e |-> 0],
     used |-> [key |-> None, e |-> 0]]
RemembersO ==
    [view |-> FALSE, epoch |-> 2, agreed |-> 1, accepted |-> [r \in Results |-> 1],
     secret |-> [r \in Results |-> None], open |-> [r \in Results |-> NoExchange],
     candidate |-> [key |-> None, e |-> 0], used |-> [key |-> GroupOf1, e |-> 1]]

Text1(r, side) ==
    LET own == IF side = 1 THEN LowerOf1(r) ELSE LeafOf1(r)
        peer == IF side = 1 THEN LeafOf1(r) ELSE LowerOf1(r)
    IN [text |-> ConfirmationText(Acts(r, side, TRUE), side, own, peer, ContextOf1(r)), key |-> SecretOf1(r)]

Init ==
    /\ mem = [m \in Nodes |-> IF m = "O" THEN RemembersO ELSE Remembers1(m)]
    /\ lead = [epoch |-> 2, slot |-> 2, next |-> 1, phase |-> "run"]
    /\ requests = {RequestText("request", r, TRUE, 1, 1, TRUE) : r \in Results}
    /\ commits = IF Confirmed THEN {CommitText(1, 1, GroupOf1)} ELSE {}
    /\ shares = {LowerOf1(r) : r \in Results} \cup {LeafOf1(r) : r \in Results}
    /\ confirmations = {Text1(r, side) : r \in Results, side \in {1, 2}}
    /\ readies = {}
    /\ deliveries = IF Symmetric THEN {[m |-> m, e |-> 1, t |-> 1, key |-> GroupOf1] : m \in Members} ELSE {}
    /\ losses = Restarts
    /\ committed = 1
    /\ keys = [e \in 1..Epochs |-> IF e = 1 THEN GroupOf1 ELSE None]
    /\ bad = ""

-----------------------------------------------------------------------------
(* Installing a key, and what has to hold then. *)
Wrong(m, key, e) ==
    CASE m # "O" /\ e < committed -> "an older key than the confirmed one is taken into use"
      [] e > 1 /\ Knows(key) -> "a key that the removed member has is taken into use after its removal"
      [] e > 1 /\ keys[e] # None /\ keys[e] # key -> "two keys of one epoch are in use"
      [] OTHER -> ""
Installs(m, key, e) ==
    /\ keys' = [keys EXCEPT ![e] = IF @ = None THEN key ELSE @]
    /\ bad' = Wrong(m, key, e)
    /\ committed' = IF m = "O" /\ e > committed THEN e ELSE committed

Quiet == UNCHANGED <<committed, keys, bad>>

(* A new key of the whole group: what m remembers then. *)
Agreed(own, key, e) ==
    [own EXCEPT !.agreed = IF e > @ THEN e ELSE @,
                !.candidate = IF Confirmed THEN [key |-> key, e |-> e] ELSE [key |-> None, e |-> 0],
                !.used = IF Confirmed THEN @ ELSE [key |-> key, e |-> e]]
AgreesOn(m, own, key, e) ==
    /\ mem' = [mem EXCEPT ![m] = Agreed(own, key, e)]
    /\ readies' = IF Confirmed /\ m # "O" THEN readies \cup {[m |-> m, e |-> e, key |-> key]} ELSE readies
    /\ IF Confirmed THEN Quiet ELSE Installs(m, key, e)

-----------------------------------------------------------------------------
(* Requests. *)
Timely(t) == t <= lead.slot /\ lead.slot <= t + Window
Forgotten(own, r) ==
    [own EXCEPT !.secret = [q \in Results |-> IF q \in From(r) THEN None ELSE @[q]],
                !.open = [q \in Results |-> IF q \in From(r) THEN NoExchange ELSE @[q]]]

OwnSecret(m, own, r, e, hasX) ==
    LET side == SideOf(m, r, hasX) IN
    IF side = 1
    THEN IF Place(r) = 1 THEN Fresh(m, r, e) ELSE own.secret[Path[Place(r) - 1]]
    ELSE IF IsLeaf(r) THEN Fresh(m, r, e) ELSE Stable(r)

(* What m remembers when it believes that the orchestrator asks for r, and whether it sends a share. *)
Opened(m, own, r, e, t, hasX) ==
    LET cleared == Forgotten([own EXCEPT !.accepted = [@ EXCEPT ![r] = e], !.epoch = e,
                                         !.candidate = [key |-> None, e |-> 0]], r)
        left == IF cleared.view # hasX /\ Hardened
                THEN [cleared EXCEPT !.secret = [q \in Results |-> IF cleared.accepted[q] < e THEN None ELSE @[q]],
                                     !.open = [q \in Results |-> IF cleared.accepted[q] < e THEN NoExchange ELSE @[q]]]
                ELSE cleared
        seen == [left EXCEPT !.view = hasX]
        side == SideOf(m, r, hasX)
        one == Acts(r, 1, hasX)
        two == Acts(r, 2, hasX)
        exchange == [st |-> IF m \in {one, two} THEN "asked" ELSE "open", e |-> e, c |-> Context(r, e, t, one, two),
                     one |-> one, two |-> two, mine |-> None, peer |-> None]
    IN IF side = 0 THEN seen ELSE [seen EXCEPT !.open = [@ EXCEPT ![r] = exchange]]

(* What a signed request can be made to say, for what is not signed is the attacker's to write. *)
Step(q) == IF Has("request.identifier") THEN {q.r} ELSE Results
Operand(q) == IF Has("request.identifier") THEN {q.x} ELSE BOOLEAN
EpochOf(q) == IF Has("request.epoch") THEN {q.e} ELSE 1..(Epochs + 1)
TimeOf(q) == IF Signs("request.time") THEN {q.t} ELSE IF Hardened THEN 1..lead.slot ELSE {0}
GroupOf(q) == IF Signs("request.membership") THEN {q.w} ELSE IF Hardened THEN BOOLEAN ELSE {TRUE}

AcceptsRequest(m) ==
    /\ m # "O"
    /\ \E q \in requests : \E e \in EpochOf(q), t \in TimeOf(q) :
        /\ e >= mem[m].epoch
        /\ IF Hardened THEN Timely(t) ELSE e > Epochs \/ Timely(e)
        /\ \E r \in Step(q) :
            /\ e # mem[m].accepted[r]
            /\ Hardened \/ (e > mem[m].accepted[r] /\ e > mem[m].agreed)
            /\ \E x \in Operand(q), w \in GroupOf(q) :
                LET hasX == IF Hardened THEN w ELSE IF r = "L" THEN x ELSE mem[m].view IN
                \* The addresses have to be those of an exchange of the tree as it is said to be.
                /\ IF r = "L" THEN Hardened => x = w ELSE x
                /\ mem' = [mem EXCEPT ![m] = Opened(m, mem[m], r, e, t, hasX)]
                /\ bad' = IF e > lead.epoch THEN "a member takes an epoch that the orchestrator has not come to" ELSE bad
    /\ UNCHANGED <<lead, bus, losses, committed, keys>>

(* A signed request is taken for the word that the key in use is given up. *)
TakesWithdrawal(m) ==
    /\ m # "O" /\ mem[m].used.e > 0
    /\ \E e \in 1..Epochs, t \in 1..lead.slot, w \in BOOLEAN :
        /\ RequestText("withdrawal", "R", TRUE, e, t, w) \in requests
        /\ Timely(t) /\ e >= mem[m].epoch
    /\ bad' = "a member gives its key up though the orchestrator has not"
    /\ UNCHANGED <<mem, lead, bus, losses, committed, keys>>

-----------------------------------------------------------------------------
(* Exchanges.  A private key that is never sent as a share is no share, so the terms of shares stand for them. *)
Side(m, r) == LET x == mem[m].open[r] IN IF x.one = m THEN 1 ELSE IF x.two = m THEN 2
              ELSE SideOf(m, r, mem[m].view)
Offered == shares \cup {Evil}

SendsShare(m, r) ==
    LET x == mem[m].open[r]
        own == OwnSecret(m, mem[m], r, x.e, mem[m].view)
    IN
    /\ x.st = "asked" /\ own # None
    /\ mem' = [mem EXCEPT ![m].open[r].st = "shared", ![m].open[r].mine = own]
    /\ shares' = shares \cup {own}
    /\ UNCHANGED <<lead, requests, commits, confirmations, readies, deliveries, losses>> /\ Quiet

TakesShare(m, r) ==
    LET x == mem[m].open[r] IN
    /\ x.st = "shared"
    /\ \E p \in Offered \ {x.mine} :
        LET key == Derived(x.mine, p, x.c)
            text == ConfirmationText(m, Side(m, r), x.mine, p, x.c)
        IN
        /\ mem' = [mem EXCEPT ![m].open[r].st = "sent", ![m].open[r].peer = p]
        /\ confirmations' = confirmations \cup {[text |-> text, key |-> key]}
    /\ UNCHANGED <<lead, requests, commits, shares, readies, deliveries, losses>> /\ Quiet

(* A confirmation with this text, under this key, can be had: it was on the bus, or the attacker can make it. *)
CanBeHad(text, key) ==
    \/ [text |-> text, key |-> key] \in confirmations
    \/ /\ Knows(key)
       /\ text.by = "X" \/ \E c \in confirmations : c.text = text /\ Knows(c.key)

(* The exchange has succeeded at m. *)
Done(m, r, key) ==
    LET x == mem[m].open[r]
        own == [mem[m] EXCEPT !.open[r] = NoExchange, !.secret[r] = key]
    IN
    /\ IF r = Root
       THEN AgreesOn(m, own, key, x.e)
       ELSE mem' = [mem EXCEPT ![m] = own] /\ Quiet /\ UNCHANGED readies
    /\ lead' = IF m # "O" THEN lead
               ELSE IF r # Root THEN [lead EXCEPT !.next = @ + 1]
               ELSE [lead EXCEPT !.phase = IF Confirmed THEN "confirming" ELSE "idle"]
    /\ UNCHANGED <<requests, commits, shares, confirmations, deliveries, losses>>

Finishes(m, r) ==
    LET x == mem[m].open[r]
        side == Side(m, r)
        signer == IF side = 1 THEN x.two ELSE x.one
        key == Derived(x.mine, x.peer, x.c)
    IN
    /\ x.st = "sent"
    /\ CanBeHad(ConfirmationText(signer, 3 - side, x.peer, x.mine, x.c), key)
    /\ Done(m, r, key)

(* A passive member follows with the secret of its side. *)
Follows(m, r) ==
    LET x == mem[m].open[r]
        side == Side(m, r)
        signer == IF side = 1 THEN x.two ELSE x.one
        own == IF x.e = 1 /\ x.mine # None THEN x.mine ELSE OwnSecret(m, mem[m], r, x.e, mem[m].view)
    IN
    /\ x.st = "open" /\ own # None
    /\ \E p \in Offered \ {own} :
        LET key == Derived(own, p, x.c) IN
        /\ \E q \in Offered : CanBeHad(ConfirmationText(signer, 3 - side, p, q, x.c), key)
        /\ Done(m, r, key)

-----------------------------------------------------------------------------
(* The orchestrator. *)
Asks ==
    LET r == Path[lead.next] IN
    /\ ~Symmetric /\ lead.phase = "run" /\ lead.next <= Len(Path)
    /\ mem["O"].open[r].st = "none" /\ (mem["O"].accepted[r] # lead.epoch)
    /\ requests' = requests \cup {RequestText("request", r, r # "L", lead.epoch, lead.slot, FALSE)}
    /\ mem' = [mem EXCEPT !["O"] = Opened("O", mem["O"], r, lead.epoch, lead.slot, FALSE)]
    /\ UNCHANGED <<lead, commits, shares, confirmations, readies, deliveries, losses>> /\ Quiet

(* It counts the frames of an exchange that others take part in, and anybody can send those. *)
MovesOn ==
    LET r == Path[lead.next] IN
    /\ ~Symmetric /\ lead.phase = "run" /\ lead.next < Len(Path)
    /\ mem["O"].open[r].st = "open"
    /\ mem' = [mem EXCEPT !["O"].open[r] = NoExchange]
    /\ lead' = [lead EXCEPT !.next = @ + 1]
    /\ UNCHANGED <<bus, losses>> /\ Quiet

Delivers ==
    LET key == Fresh("O", "master", lead.epoch) IN
    /\ Symmetric /\ lead.phase = "run"
    /\ deliveries' = deliveries \cup {[m |-> m, e |-> lead.epoch, t |-> lead.slot, key |-> key] : m \in Members}
    /\ AgreesOn("O", mem["O"], key, lead.epoch)
    /\ lead' = [lead EXCEPT !.phase = IF Confirmed THEN "confirming" ELSE "idle"]
    /\ UNCHANGED <<requests, commits, shares, confirmations, losses>>

(* As published nothing but the signature protects what is encrypted, so it can be changed to something unknown. *)
CanBeChanged == ~Hardened /\ (~Has("master-secret.secret") \/ ~Has("master-secret.pair-shares"))
TakesDelivery(m) ==
    /\ m # "O" /\ Symmetric
    /\ \E d \in deliveries, isChanged \in IF CanBeChanged THEN BOOLEAN ELSE {FALSE} :
        LET own == mem[m]
            above == IF Guard THEN own.agreed ELSE own.used.e
        IN
        /\ d.m = m
        /\ IF Hardened THEN Timely(d.t) \/ {"delivery.time", "master-secret.time"} \subseteq Deleted ELSE Timely(d.e)
        /\ d.e > above /\ (Guard \/ ~Hardened => d.e >= own.epoch)
        /\ AgreesOn(m, [own EXCEPT !.epoch = IF Guard THEN d.e ELSE @], IF isChanged THEN Fresh(m, "changed", d.e) ELSE d.key, d.e)
    /\ UNCHANGED <<lead, requests, commits, shares, confirmations, deliveries, losses>>

(* All present members have shown the key, or somebody who has it has shown it for them. *)
Commits ==
    LET c == mem["O"].candidate
        shown(m) == \/ \E y \in readies : /\ y.m = m /\ y.key = c.key
                                          /\ (Has("ready.epoch") => y.e = c.e)
                    \/ Knows(c.key)
                    \/ ~Has("ready.identifier") /\ \E y \in readies : y.key = c.key /\ y.e = c.e
        holds(m) == [m |-> m, e |-> c.e, key |-> c.key] \in readies
    IN
    /\ lead.phase = "confirming"
    /\ \A m \in Members : shown(m)
    /\ commits' = commits \cup {CommitText(c.e, lead.slot, c.key)}
    /\ mem' = [mem EXCEPT !["O"].used = c, !["O"].candidate = [key |-> None, e |-> 0]]
    /\ lead' = [lead EXCEPT !.phase = "idle"]
    /\ keys' = [keys EXCEPT ![c.e] = IF @ = None THEN c.key ELSE @]
    /\ committed' = c.e
    /\ bad' = IF Wrong("O", c.key, c.e) = "" /\ \E m \in Members : ~holds(m)
              THEN "a key is confirmed that a member has not agreed on" ELSE Wrong("O", c.key, c.e)
    /\ UNCHANGED <<requests, shares, confirmations, readies, deliveries, losses>>

TakesCommit(m) ==
    LET c == mem[m].candidate IN
    /\ m # "O" /\ c.e > 0
    /\ \E t \in 1..lead.slot : (Hardened => Timely(t)) /\ CommitText(c.e, t, c.key) \in commits
    /\ mem' = [mem EXCEPT ![m].used = c, ![m].candidate = [key |-> None, e |-> 0]]
    /\ Installs(m, c.key, c.e)
    /\ UNCHANGED <<lead, bus, losses>>

(* It asks again under a new epoch, because something was lost, or for another change. *)
AsksAgain ==
    /\ lead.epoch < Epochs
    /\ lead' = [epoch |-> lead.epoch + 1, slot |-> IF lead.phase = "idle" THEN lead.slot + 1 ELSE lead.slot,
                next |-> 1, phase |-> "run"]
    /\ mem' = [mem EXCEPT !["O"].secret = [r \in Results |-> None], !["O"].open = [r \in Results |-> NoExchange],
                          !["O"].candidate = [key |-> None, e |-> 0]]
    /\ UNCHANGED <<bus, losses>> /\ Quiet

(* A member loses its power: secrets and keys are gone. *)
Restarts1(m) ==
    /\ losses > 0 /\ m # "O"
    /\ losses' = losses - 1
    /\ LET own == mem[m]
           highest == IF own.epoch > own.agreed THEN own.epoch ELSE own.agreed
       IN mem' = [mem EXCEPT ![m] =
            [view |-> IF Persists THEN own.view ELSE TRUE, epoch |-> IF Persists THEN highest + 1 ELSE 0,
             agreed |-> IF Persists THEN highest ELSE 0, accepted |-> [r \in Results |-> 0],
             secret |-> [r \in Results |-> None], open |-> [r \in Results |-> NoExchange],
             candidate |-> [key |-> None, e |-> 0], used |-> [key |-> None, e |-> 0]]]
    /\ UNCHANGED <<lead, bus>> /\ Quiet

Next ==
    /\ bad = ""
    /\ \/ \E m \in Nodes : \/ AcceptsRequest(m) \/ TakesWithdrawal(m) \/ TakesDelivery(m) \/ TakesCommit(m)
                           \/ Restarts1(m)
                           \/ \E r \in Results : SendsShare(m, r) \/ TakesShare(m, r) \/ Finishes(m, r) \/ Follows(m, r)
       \/ Asks \/ MovesOn \/ Delivers \/ Commits \/ AsksAgain

Spec == Init /\ [][Next]_vars

(* After the commit of an epoch no present member takes an older key, or one that the removed member has. *)
Holds == bad = ""
(* What lies behind the first so many states is not looked at. *)
Within == Most = 0 \/ TLCGet("distinct") < Most
(* Has to be violated: a change that never succeeds would prove nothing. *)
NeverSucceeds == \E m \in Members : mem[m].used.e < 2 \/ mem[m].used.key # mem["O"].used.key
=============================================================================
