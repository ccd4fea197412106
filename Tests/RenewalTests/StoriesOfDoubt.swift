extension DecisionTable {
    static let noVerdict = Section(
        "No verdict",
        "Nothing changes but the next check and the problem (rule 1). Every such answer is tried "
            + "with every state in a test beside this table; the rows show the kinds.",
        """
        # The store cannot be reached: asked again ever more slowly | active 30
        10     unreachable        active   granted  !unreachable           pro 30  8s
        10+1m  unreachable        active   granted  !unreachable           pro 30  13s
        10+2m  unreachable        active   granted  !unreachable           pro 30  23s
        10+3m  active 30          active   granted  -                      pro 30  7d
        10+4m  unreachable        active   granted  !unreachable           pro 30  8s
        # The paid period is over by our clock, and the store is silent | active 30
        30+1h  unreachable        active   granted  !unreachable           pro 30  8s
        # The store asks for fewer calls | active 30
        10     throttled retry=90s  active  granted  !throttled            pro 30  1m30s
        # The store refuses our credentials | active 30
        10     refused            active   granted  !refused               pro 30  8s
        # The reply cannot be read | active 30
        10     malformed          active   granted  !malformed             pro 30  8s
        # The signature does not hold | active 30
        10     signature          active   granted  !signature             pro 30  8s
        # The reply is about another app | active 30
        10     mismatch           active   granted  !mismatch              pro 30  8s
        # Nothing to ask with | active 30
        10     unsupported        active   granted  !unsupported           pro 30  8s
        # A granted purchase is never revoked for a token the store does not accept | active 30
        10     rejected           active   granted  !rejected              pro 30  1d
        10+11m  rejected          active   granted  !rejected              pro 30  1d
        11     rejected           active   granted  !rejected              pro 30  1d
        # Silence beyond max_staleness, and the paid period is over (rule 3) \
        | active 30 vain=29 asked=58+23h
        59     unreachable        active   granted  !unreachable           pro 30  8s
        59+1m  unreachable        active   none     -unverifiable !unreachable  -  13s
        60     unreachable        active   none     !unreachable           -       23s
        61     active 90          active   granted  +restored              pro 90  7d
        # Silence about what will not renew and was never seen with an end: no period is longer \
        than a year | active off amazon created=1 vain=366 asked=397+23h
        398    unreachable        active   none     -unverifiable !unreachable  -  8s
        # Asked in vain last in the future, as the clock was set back since: it counts on \
        | active 30 vain=371 asked=400+23h
        59     unreachable        active   granted  !unreachable           pro 30  8s
        60     unreachable        active   none     -unverifiable !unreachable  -  13s
        # The time in which nobody asked is no silence: at most a day of it counts \
        | active 30 vain=29 asked=29
        80     unreachable        active   granted  !unreachable           pro 30  8s
        81     unreachable        active   granted  !unreachable           pro 30  13s
        # The first failure after a month in which we were down | active 30
        75     unreachable        active   granted  !unreachable           pro 30  8s
        # Any answer that settles it begins the count anew | active 30 vain=29 asked=58+23h
        59     active 60          active   granted  renewed                pro 60  1d18s
        61     unreachable        active   granted  !unreachable           pro 60  8s
        # Silence beyond max_staleness in a period that still runs | active 365 vain=1 asked=59
        60     unreachable        active   granted  !unreachable           pro 365  8s
        # Silence beyond max_staleness about what lasts for ever | active product=lifetime vain=1 asked=59
        60     unreachable        active   granted  !unreachable           pro ever  8s
        # An answer that leaves open what has long been over is as good as none (rule 3) \
        | active 30 amazon vain=30 asked=59+23h
        60     active 30          active   granted  -                      pro 30  6h
        60+1h  active 30          active   none     -unverifiable          -       3d18h7m30s
        90     active 30          active   none     -                      -       7d
        91     active 100         active   granted  +restored              pro 100  1d20h
        # What will not renew and was never seen with an end: no period is longer than a year \
        | active off amazon created=1 vain=368 asked=397+23h
        398    active              active   granted  -                      pro ever  1d20h
        398+1h  active             active   none     -unverifiable          -       1d20h
        399    active              active   none     -                      -       1d20h
        400    active 430          active   granted  +restored              pro 430  1d20h
        # Within that year it is in force | active off amazon created=1 asked=340 vain=200
        360    active              active   granted  -                      pro ever  1d20h
        # Renewed unseen and turned off: it runs in a period without an end, of a year at most \
        | active 365 amazon asked=364
        365+1h  active off         active   granted  auto_renew_off         pro ever  30m
        390    active off          active   granted  -                      pro ever  6h
        396    active off          active   granted  -                      pro ever  6h
        730    active 731 off      active   granted  renewed                pro 731  1d18s
        # The same, and the store is silent: it may have been paid for a year \
        | active 365 amazon
        365+1h  active off         active   granted  auto_renew_off         pro ever  30m
        366    unreachable         active   granted  !unreachable           pro ever  8s
        # Turned off before the end, which is the last one then \
        | active 365 off amazon vain=365 asked=395
        395+1h  active off         active   none     -unverifiable          -       3d18h7m30s
        # So is a grace that nobody ends | grace 30 amazon vain=30 asked=60
        60+1h  grace 30 own       grace    none     -unverifiable          -       3d18h7m30s
        # An end that moves on is an answer | active 30 vain=30 asked=60
        60+1h  active 59          active   granted  renewed                pro 59  6h
        # Over for long when it is handed in: the store says in force, for now | new
        90     active 30          active   granted  +purchased             pro 30  6h
        90+1h  active 30          active   granted  -                      pro 30  6h
        """)

    static let doubts = Section(
        "Bad news that one answer does not prove",
        "Asked twice, at least `confirm_after` (six hours; ten minutes for what never was granted) "
            + "apart (rule 2). What never was granted is asked every few minutes for its first hour.",
        """
        # Not found, twice | active 30
        10     not_found          active   granted  !second_opinion        pro 30  6h6s
        10+5h  not_found          active   granted  !second_opinion        pro 30  1h6s
        10+6h  not_found          invalid  none     -invalid !not_found    -       1d15m
        11     active 30          active   granted  +restored              pro 30  7d
        # Not found first in the future, as the database's clock was set back since: counted anew \
        | active 30 doubt=not_found since=20
        10     not_found          active   granted  !second_opinion        pro 30  6h6s
        10+6h  not_found          invalid  none     -invalid !not_found    -       1d15m
        # Not found, then found | active 30
        10     not_found          active   granted  !second_opinion        pro 30  6h6s
        10+7h  active 30          active   granted  -                      pro 30  7d
        10+8h  not_found          active   granted  !second_opinion        pro 30  6h6s
        # An outage between the two opinions does not count as one | active 30
        10     not_found          active   granted  !second_opinion        pro 30  6h6s
        10+7h  unreachable        active   granted  !unreachable           pro 30  13s
        10+8h  not_found          invalid  none     -invalid !not_found    -       1d15m
        # Two words for not being there confirm each other | active 30
        10     not_found          active   granted  !second_opinion        pro 30  6h6s
        10+5h  gone               active   granted  !second_opinion        pro 30  1h6s
        10+7h  gone               invalid  none     -invalid !not_found    -       1d15m
        # Words for not being there that take turns end as well: the second one decides | active 30
        95     not_found          active   granted  !second_opinion        pro 30  6h6s
        95+7h  gone               expired  none     -expired               -       never
        # Replaced is an opinion of another sort | active 30 apple
        10     replaced           active   granted  -                      pro 30  1h
        10+30m  not_found         active   granted  !second_opinion        pro 30  6h6s
        10+7h  not_found          invalid  none     -invalid !not_found    -       1d15m
        # Said not to exist, and not found again: asked daily for a week | active 30
        10     not_found          active   granted  !second_opinion        pro 30  6h6s
        11     not_found          invalid  none     -invalid !not_found    -       1d15m
        16     not_found          invalid  none     !not_found             -       1d15m
        17     not_found          invalid  none     !not_found             -       never
        # Apple may find again what it had lost | active 30 apple
        10     not_found          active   granted  !second_opinion        pro 30  6h6s
        11     not_found          invalid  none     -invalid !not_found    -       1d15m
        17     not_found          invalid  none     !not_found             -       30d
        # Never granted, not accepted, then not found: asked often in the first hour | new
        0      rejected           new      none     !rejected              -       2m
        0+2m   not_found          new      none     !not_found             -       2m
        0+9m   rejected           new      none     !rejected              -       2m15s
        0+12m  not_found          invalid  none     rejected !not_found    -       3m
        0+40m  not_found          invalid  none     !not_found             -       5m
        0+1h   not_found          invalid  none     !not_found             -       1d15m
        # Never granted, and found within the first hour | new
        0      not_found          new      none     !not_found             -       2m
        0+12m  not_found          invalid  none     rejected !not_found    -       3m
        0+15m  active 30          active   granted  +purchased             pro 30  7d
        # Of Apple it is asked for ever, as the name may be sold again | active 30 apple
        10     not_found          active   granted  !second_opinion        pro 30  6h6s
        10+7h  not_found          invalid  none     -invalid !not_found    -       1d15m
        18     not_found          invalid  none     !not_found             -       30d
        48     active 60          active   granted  +restored              pro 60  7d
        # Google's 410 right after the purchase, and found | new
        0      gone               new      none     !not_found             -       2m
        0+2m   active 30          active   granted  +purchased             pro 30  7d
        # Google's 410 within the token's life | active 30
        10     gone               active   granted  !second_opinion        pro 30  6h6s
        10+7h  gone               invalid  none     -invalid !not_found    -       1d15m
        # Google's 410 after the token's life | active 30
        95     gone               active   granted  !second_opinion        pro 30  6h6s
        95+7h  gone               expired  none     -expired               -       never
        # Google's 410 for what had expired | expired 30
        91     gone               expired  none     -                      -       6h6s
        91+7h  gone               expired  none     -                      -       never
        # Google's 410 at the end of hold | hold 30
        91     gone               hold     none     !not_found             -       6h6s
        91+7h  gone               expired  none     -                      -       never
        # A refund stays a refund, whatever is forgotten later | refunded 30
        40     gone               refunded  none    -                      -       6h6s
        41     not_found          refunded  none    !not_found             -       never
        # So does the end of family sharing | revoked 30 apple
        40     not_found          revoked  none     !not_found             -       6h6s
        41     not_found          revoked  none     !not_found             -       30d
        # What had expired does not become invalid | expired 30 apple
        40     not_found          expired  none     !not_found             -       6h6s
        41     not_found          expired  none     !not_found             -       30d
        # Refunded, runs out by policy, and is forgotten meanwhile | refunded 60 lenient
        40     not_found          refunded  granted  !second_opinion       pro 60  6h6s
        41     not_found          refunded  none    -refunded !not_found   -       never
        # Amazon's 410 | active 30 amazon
        10     no_longer_valid    active   granted  !second_opinion        pro 30  6h6s
        10+7h  no_longer_valid    expired  none     -cancelled             -       never
        # Never granted, and the store does not accept the token: asked daily for a week | new
        0+1m   rejected           new      none     !rejected              -       2m
        0+12m  rejected           invalid  none     rejected !rejected     -       3m
        1      rejected           invalid  none     !rejected              -       1d15m
        8      rejected           invalid  none     !rejected              -       never
        # Submitted again after that: watched for another week, and not told again \
        | invalid never doubt=rejected since=1
        40     rejected           invalid  none     !rejected              -       10m6s
        40+11m  rejected          invalid  none     !rejected              -       1d15m
        # Never granted, and not found | new
        0+1m   not_found          new      none     !not_found             -       2m
        0+12m  not_found          invalid  none     rejected !not_found    -       3m
        # Never granted, not accepted once, then found | new
        0+1m   rejected           new      none     !rejected              -       2m
        0+12m  active 30          active   granted  +purchased             pro 30  7d
        # Known to its store, and not accepted later: it stays what it is | hold 30 never
        40     rejected           hold     none     !rejected              -       1d
        41     rejected           hold     none     !rejected              -       1d
        # A consumable that was used up is not found any more | active product=coins
        40     rejected           active   none     !rejected              -       1d
        41     rejected           active   none     !rejected              -       1d
        # Never granted, and our credentials are refused: never invalid | new
        0+1m   refused            new      none     !refused               -       8s
        0+12m  refused            new      none     !refused               -       13s
        # Never granted, and the store is down or answers nonsense: never invalid | new
        0+1m   unreachable        new      none     !unreachable           -       8s
        0+12m  malformed          new      none     !malformed             -       13s
        """)

    static let substitutes = Section(
        "Substitutes",
        "Where an answer lacks the purchase's own record, what stands in for it (another transaction "
            + "of its group, a family member's copy, an older receipt) may bring good news; its bad "
            + "news is at most a doubt. The type of an observation holds this.",
        """
        # A substitute in force gives access | expired 30
        40     active 90 substitute  active  granted  +resubscribed        pro 90  7d
        # A substitute that lasts longer keeps access, and nothing has renewed | active 30
        30+1h  active 60 substitute  active  granted  -                    pro 60  7d
        # A substitute that ends sooner takes nothing away | active 365
        10     active 30 off substitute  active  granted  -                pro 365  7d
        # A substitute for something else adds it, and takes nothing away | active 30
        10     active 60 product=gold substitute  active  granted  +product_changed:gold  gold 60, pro 60  7d
        # One that names no end does not make it last for ever | active 30
        10     active substitute  active  granted  -                       pro 30  7d
        # Nor a pass, which ends by its duration | active 32 product=pass30 bought=2 kind=non_renewing
        10     active product=pass30 kind=non_renewing substitute  active  granted  -  pro 32  7d
        32+1m  active product=pass30 kind=non_renewing substitute  expired  none  -expired  -  1d
        # A longer duration counts for what stands in, too | active 20 product=pass30 kind=non_renewing
        10     active product=pass30 bought=2 kind=non_renewing substitute  active  granted  extended  pro 32  7d
        # A substitute that has ended is a doubt | active 30
        10     ended 10 substitute  active  granted  !second_opinion       pro 30  6h6s
        10+5h  refunded 10 substitute  active  granted  !second_opinion    pro 30  1h6s
        10+6h  active 30          active   granted  -                      pro 30  7d
        # So are refund, hold, pause, the end of sharing, and a successor | active 30
        10     refunded 10 substitute  active  granted  !second_opinion    pro 30  6h6s
        10+1h  hold substitute    active   granted  !second_opinion        pro 30  5h6s
        10+2h  paused 20 substitute  active  granted  !second_opinion      pro 30  4h6s
        10+3h  family_removed 10 substitute  active  granted  !second_opinion  pro 30  3h6s
        10+4h  replaced substitute  active  granted  !second_opinion       pro 30  2h6s
        10+5h  pending substitute  active  granted  !second_opinion        pro 30  1h6s
        """)

    static let contested = Section(
        "Bad news that its own answer contradicts",
        "Such as an unsigned status beside a signed transaction that says otherwise (rule 2): a "
            + "doubt, and when a second answer confirms it, what it says.",
        """
        # Refunded, and contested: the second answer decides, with its own reason | active 30
        10     refunded 10 contested  active  granted  !second_opinion     pro 30  6h6s
        10+5h  refunded 10 contested  active  granted  !second_opinion     pro 30  1h6s
        10+7h  refunded 10 contested  refunded  none  -refunded           -       1d
        # Over, and contested: good news between ends the doubt | active 30
        31     cancelled 30 contested  active  granted  !second_opinion    pro 30  6h6s
        31+5h  active 60          active   granted  renewed                pro 60  7d
        31+7h  cancelled 30 contested  active  granted  !second_opinion   pro 60  6h6s
        # On hold, and contested | active 30
        31     hold contested     active   granted  !second_opinion        pro 30  6h6s
        31+7h  hold contested    hold     none     -payment_failed        -       3h52m30s
        # Contested bad news confirms that it is not there | active 30
        10     not_found          active   granted  !second_opinion        pro 30  6h6s
        10+7h  refunded 10 contested  refunded  none  -refunded           -       1d
        # That it is not there confirms no other bad news | active 30
        10     refunded 10 contested  active   granted  !second_opinion        pro 30  6h6s
        10+7h  not_found              active   granted  !second_opinion        pro 30  6h6s
        10+14h  refunded 10 contested  refunded  none  -refunded           -       1d
        # The same, and it stays away | active 30
        31     ended 30 contested     active   granted  !second_opinion        pro 30  6h6s
        31+7h  not_found              active   granted  !second_opinion        pro 30  6h6s
        31+14h  not_found             invalid  none     -invalid !not_found    -       1d15m
        # Good news cannot be contested | expired 30
        40     active 90 contested  active  granted  +resubscribed         pro 90  7d
        # An older answer is dropped, contested or not | active 30 stated=10
        10+1m  ended 9 stated=9 contested  active  granted  -              pro 30  8s
        """)

    static let environments = Section(
        "Sandbox", "Learned once for each purchase (rule 9).",
        """
        # A sandbox purchase grants, and is marked
        1      active 30 sandbox  active   granted  +purchased             pro 30  7d
        # A sandbox purchase is ignored by policy | new | policy sandbox=ignore
        1      active 30 sandbox  active   none     -                      -       7d
        2      grace 31 sandbox   grace    none     -                      -       6h15s
        # The policy leaves out what it gave: no store has ended it | active 30 sandbox \
        | policy sandbox=ignore
        2      active 30 sandbox  active   none     -manual                -       7d
        3      active 30 sandbox  active   none     -                      -       7d
        # The same in grace, and where grace revokes | active 30 sandbox \
        | policy sandbox=ignore grace=revoke
        30+1m  grace 33 sandbox   grace    none     -manual                -       6h15s
        # The same by leniency, and to the end of what was refunded | active 30 sandbox off \
        | policy sandbox=ignore leniency=3d refund=period_end
        30+1m  cancelled 30 sandbox  expired  none  -manual                -       1d
        # And takes it in again | active 30 sandbox lapse=manual
        2      active 30 sandbox  active   granted  +manual                pro 30  7d
        # It has ended meanwhile, and was bought anew | expired 30 sandbox lapse=manual
        40     active 70 sandbox  active   granted  +resubscribed          pro 70  7d
        # A sandbox answer for a production purchase is no verdict: told once | active 30
        10     ended 10 sandbox   active   granted  environment_changed !mismatch  pro 30  8s
        11     ended 10 sandbox   active   granted  !mismatch              pro 30  13s
        12     active 30          active   granted  -                      pro 30  7d
        13     ended 10 sandbox   active   granted  !mismatch              pro 30  8s
        # The same, where the answer is not read because of it | active 30
        10     mismatch what=environment  active  granted  environment_changed !mismatch  pro 30  8s
        11     mismatch what=environment  active  granted  !mismatch       pro 30  13s
        # A sandbox answer gives nothing to a production purchase | expired 30
        40     active 90 sandbox  expired  none     environment_changed !mismatch  -  8s
        # A production answer for a sandbox purchase is told as well | active 30 sandbox
        10     active 30          active   granted  environment_changed    pro 30  7d
        11     active 30          active   granted  -                      pro 30  7d
        # Its bad news is no verdict | active 30 sandbox
        10     ended 10           active   granted  environment_changed !mismatch  pro 30  8s
        11     refunded 10        active   granted  !mismatch              pro 30  13s
        # The adapter has seen it before the decision: told as well, once | active 30
        10     foreign            active   granted  environment_changed !mismatch  pro 30  8s
        11     foreign            active   granted  !mismatch              pro 30  13s
        # Nothing is known of the environment of what is new | new
        10     foreign            new      none     !mismatch              -       8s
        """)

    static let staleAnswers = Section(
        "Old answers", "An answer older than the one already used is dropped (rule 11).",
        """
        # On hold: the grace before it does not come back, and who pays does | grace 33
        33     hold             hold     none     -payment_failed        -       1m
        33+1h  grace 33         hold     none     -                      -       8s
        33+2h  active 30        hold     none     -                      -       13s
        33+3h  active 63        active   granted  +recovered             pro 63  7d
        # Paused: the period before it does not come back, and who resumes does | active 30
        30+1m  paused 60        paused   none     -paused                -       7d
        30+2h  active 30        paused   none     -                      -       8s
        30+3h  grace 30         paused   none     -                      -       13s
        31     active 61        active   granted  +resumed               pro 61  7d
        # An older answer | active 30 stated=10
        10+1m  ended 9 stated=9   active   granted  -                      pro 30  8s
        # A newer answer | active 30 stated=10
        10+1m  refunded 10 stated=10+1m  refunded  none  -refunded         -       1d
        # The same answer again | active 30 stated=10
        10+1m  active 30 stated=10  active  granted  -                     pro 30  7d
        # Older than an answer that changed nothing | active 30 stated=10
        10+2h  active 30 stated=10+2h  active  granted  -                  pro 30  7d
        10+3h  ended 10 stated=10+1h  active  granted  -                   pro 30  8s
        # Stated at a time to come: nonsense, which silences nothing | active 30 stated=10
        11     ended 11 stated=40  active  granted  !malformed             pro 30  8s
        11+1m  refunded 11 stated=11+1m  refunded  none  -refunded         -       1d
        # A clock that is minutes off is no nonsense | active 30 stated=10
        11     refunded 11 stated=11+5m  refunded  none  -refunded         -       1d
        # Not paid yet, said of what was granted | active 30
        10     pending            active   granted  -                      pro 30  8s
        10+1m  pending            active   granted  -                      pro 30  13s
        # In force by the period that had ended: a copy of the data that is behind | expired 30
        30+1h  active 30          expired  none     -                      -       8s
        30+2h  active 60          active   granted  +resubscribed          pro 60  7d
        # The same after a refund | refunded 60 amazon
        70     active 30          refunded  none    -                      -       8s
        # Amazon names an earlier renewal date than before | active 60 amazon
        40     active 30          active   granted  -                      pro 60  8s
        40+1m  active 60          active   granted  -                      pro 60  1d20h
        """)
}
