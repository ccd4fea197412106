import Testing

/// The decision table: each story is played, each step compared.
@Suite struct StoryTests {
    @Test(arguments: DecisionTable.stories)
    func decidesAsTheTableSays(_ story: Story) throws {
        var stage = try Stage(story)
        for step in story.steps {
            let found = try stage.play(step)
            #expect(found == step.expected, "\(story.title), at \(step.time): \(step.heard)")
        }
    }

    @Test func tellsEachStoryOnce() {
        let titles = DecisionTable.stories.map(\.title)
        #expect(Set(titles).count == titles.count)
        #expect(DecisionTable.stories.allSatisfy { !$0.steps.isEmpty })
    }
}
